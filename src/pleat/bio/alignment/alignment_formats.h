// Alignment formats: one reader each, from lines to rows of characters.
#pragma once

#include <string_view>

#include "pleat/bio/alignment/text_alignment.h"
#include "pleat/bio/input/byte_source.h"

namespace pleat {

/// FASTA and its relatives A2M and A3M, which differ in what the letters mean, not in the records.
/// Of an alignment, rows of HH-suite that are no sequences are left out.
void read_fasta(ByteSource& source, TextAlignment& text, bool is_alignment = true);
/// Stockholm 1.0, interleaved or not; `text.reference` becomes the RF line.
void read_stockholm(ByteSource& source, TextAlignment& text);
/// CLUSTAL and what programs write in its manner.
void read_clustal(ByteSource& source, TextAlignment& text);
/// PSICOV .aln: one row of letters a line, no names.
void read_psicov(ByteSource& source, TextAlignment& text);

/// PHYLIP, interleaved or one sequence after another, with names of one word or of 10 columns.
void read_phylip(ByteSource& source, TextAlignment& text);

/// Sets `text.parts` to the lengths in ColabFold's first line "#218,310<tab>1,1".
void read_part_lengths(std::string_view line, TextAlignment& text);

/// Whether the RF line of Stockholm leaves out a column with this character.
inline bool is_reference_gap(char c) { return c == '.' || c == '-' || c == '_' || c == '~'; }
bool is_phylip_header(std::string_view line);
bool is_stockholm_header(std::string_view line);
bool is_clustal_header(std::string_view line);
/// Letters and gap characters only, apart from blanks around them.
bool is_psicov_row(std::string_view line);

}  // namespace pleat
