// Reading a whole file into memory, with errors that name it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace pleat {

/// All bytes of a file; InputError when it cannot be opened or read, or is a folder.
std::vector<std::uint8_t> read_file(const std::filesystem::path& path);

}  // namespace pleat
