// JSON: a parser's callback that counts how deep it is.
#include "pleat/core/files/parse_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>

#include "pleat/core/error.h"
#include "pleat/core/files/text.h"

namespace pleat {

namespace {

using Json = nlohmann::ordered_json;

Json parse(std::span<const std::uint8_t> text, const std::filesystem::path& path,
           bool throws_parse_error) {
    constexpr int kMaxDepth = 100;
    const auto check = [&](int depth, Json::parse_event_t, const Json&) {
        if (depth > kMaxDepth)
            throw InputError(
                path.string(), 0,
                fmt::format("expected JSON at most {} lists or objects deep, found more",
                            kMaxDepth));
        return true;
    };
    return Json::parse(text.begin(), text.end(), check, throws_parse_error);
}

bool is_of_a_word(std::uint8_t c) {
    return std::isalnum(c) != 0 || c == '-' || c == '+' || c == '.' || c == '_';
}

/// The word or character at a position of the text, for messages.
struct Word {
    std::string text;
    std::size_t first = 0;  ///< byte
};

Word word_at(std::span<const std::uint8_t> text, std::size_t at) {
    constexpr std::size_t kShown = 30;
    std::size_t first = at, last = at + 1;
    while (first > 0 && at - first < kShown && is_of_a_word(text[at]) &&
           is_of_a_word(text[first - 1]))
        --first;
    while (last < text.size() && last - at < kShown && is_of_a_word(text[last - 1]) &&
           is_of_a_word(text[last]))
        ++last;
    return {printable(std::string(text.begin() + static_cast<std::ptrdiff_t>(first),
                                  text.begin() + static_cast<std::ptrdiff_t>(last))),
            first};
}

/// Whether other programs write a number that is not finite in this way.
bool is_not_finite(std::string word) {
    word = in_lower_case(word);
    if (word.starts_with('-') || word.starts_with('+')) word.erase(0, 1);
    return word == "nan" || word == "inf" || word == "infinity";
}

/// Says why the text is not valid JSON from byte `at` on.
std::string complaint(std::span<const std::uint8_t> text, std::size_t at) {
    if (at >= text.size()) return "expected JSON, found the end of the file too early";
    const Word word = word_at(text, at);
    if (!is_not_finite(word.text)) return fmt::format("expected JSON, found '{}'", word.text);
    std::size_t line = word.first;
    while (line > 0 && text[line - 1] != '\n') --line;
    return fmt::format(
        "expected JSON, which allows no NaN or Infinity, found '{}' at character {} of the line",
        word.text, word.first - line + 1);
}

}  // namespace

Json parse_json(std::span<const std::uint8_t> text, const std::filesystem::path& path) {
    return parse(text, path, false);
}

Json require_json(std::span<const std::uint8_t> text, const std::filesystem::path& path) {
    try {
        return parse(text, path, true);
    } catch (const Json::parse_error& error) {
        // Its bytes count from 1.
        const std::size_t at = std::max<std::size_t>(error.byte, 1) - 1;
        const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(at, text.size()));
        throw InputError(path.string(), 1 + std::count(text.begin(), end, '\n'),
                         complaint(text, at));
    } catch (const Json::out_of_range&) {
        throw InputError(path.string(), 0,
                         "expected numbers below 1e308 in JSON, found a larger one");
    }
}

}  // namespace pleat
