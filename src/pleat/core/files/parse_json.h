// JSON: parsing what may come from anywhere, nested no deeper than the calls that walk it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>

namespace pleat {

/// The value that `text` of the file `path` holds; a discarded one where it is no JSON. InputError
/// where lists and objects lie more than 100 deep in each other.
nlohmann::ordered_json parse_json(std::span<const std::uint8_t> text,
                                  const std::filesystem::path& path);

}  // namespace pleat
