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

/// The same; throws InputError, with the line and what is there, if the text is no JSON; for NaN
/// and Infinity, which Python writes, it says that JSON has none, and names the character.
nlohmann::ordered_json require_json(std::span<const std::uint8_t> text,
                                    const std::filesystem::path& path);

}  // namespace pleat
