// JSON: parsing files of unknown origin, with a limit on their nesting.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>

namespace pleat {

/// Returns the value of the JSON `text` of the file `path`; a discarded value if it is no JSON.
/// Throws InputError if lists and objects are nested more than 100 deep.
nlohmann::ordered_json parse_json(std::span<const std::uint8_t> text,
                                  const std::filesystem::path& path);

/// Like parse_json(), but throws InputError with line and content if the text is not valid JSON.
/// For NaN and Infinity, which Python writes, the error says that JSON has no such numbers.
nlohmann::ordered_json require_json(std::span<const std::uint8_t> text,
                                    const std::filesystem::path& path);

}  // namespace pleat
