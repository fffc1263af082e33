// JSON: a parser's callback that counts how deep it is.
#include "pleat/core/files/parse_json.h"

#include <fmt/format.h>

#include "pleat/core/error.h"

namespace pleat {

nlohmann::ordered_json parse_json(std::span<const std::uint8_t> text,
                                  const std::filesystem::path& path) {
    using Json = nlohmann::ordered_json;
    constexpr int kMaxDepth = 100;
    const auto check = [&](int depth, Json::parse_event_t, const Json&) {
        if (depth > kMaxDepth)
            throw InputError(
                path.string(), 0,
                fmt::format("expected JSON at most {} lists or objects deep, found more",
                            kMaxDepth));
        return true;
    };
    return Json::parse(text.begin(), text.end(), check, false);
}

}  // namespace pleat
