// Coordinate text: detecting mmCIF or PDB, and the text of a file for a parser of whole texts.
#pragma once

#include <string>

#include "pleat/bio/input/byte_source.h"

namespace pleat {

/// Moves to the first line with text, which is given again, and returns whether it is of
/// CIF: a block, or what stands in one. Throws InputError if there is no text.
bool is_mmcif(ByteSource& source);

/// The remaining text, in a CIF block, behind one empty line for each line before it, so that line
/// numbers of a parser are those of the file. Throws InputError for more than `max_from_pipe` bytes
/// from a pipe.
std::string remaining_text(ByteSource& source, std::size_t max_from_pipe);

}  // namespace pleat
