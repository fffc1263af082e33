// Coordinate text: telling mmCIF from PDB, and the text of a file for a parser of whole texts.
#pragma once

#include <string>

#include "pleat/bio/input/byte_source.h"

namespace pleat {

/// Moves to the first line with text, which is given again, and returns whether it opens a CIF
/// block. Throws InputError if there is no text.
bool is_mmcif(ByteSource& source);

/// The remaining text, behind one empty line for each line before it, so that line numbers of a
/// parser are those of the file. Throws InputError for more than `max_from_pipe` bytes from a pipe.
std::string remaining_text(ByteSource& source, std::size_t max_from_pipe);

}  // namespace pleat
