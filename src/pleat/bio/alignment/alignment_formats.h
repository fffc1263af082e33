// Alignment formats: one reader each, from lines to rows of characters.
#pragma once

#include <string_view>

#include "pleat/bio/alignment/text_alignment.h"
#include "pleat/bio/input/byte_source.h"

namespace pleat {

/// FASTA and its relatives A2M and A3M, which differ in what the letters mean, not in the records.
void read_fasta(ByteSource& source, TextAlignment& text);
/// Stockholm 1.0, one alignment, interleaved or not.
void read_stockholm(ByteSource& source, TextAlignment& text);
/// CLUSTAL and what programs write in its manner.
void read_clustal(ByteSource& source, TextAlignment& text);
/// PSICOV .aln: one row of letters a line, no names.
void read_psicov(ByteSource& source, TextAlignment& text);

bool is_stockholm_header(std::string_view line);
bool is_clustal_header(std::string_view line);
/// Letters and gap characters only, apart from blanks around them.
bool is_psicov_row(std::string_view line);

}  // namespace pleat
