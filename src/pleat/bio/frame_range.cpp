// Frame ranges: text to numbers.
#include "pleat/bio/frame_range.h"

#include <fmt/format.h>

#include <charconv>

#include "pleat/core/error.h"

namespace pleat {

FrameRange parse_frame_range(std::string_view text) {
    const auto refuse = [&] {
        throw UsageError(fmt::format(
            "expected frames as first:last:stride, counted from 1, with first <= last and stride "
            ">= 1, found '{}'",
            text));
    };
    FrameRange range;
    Index* const parts[] = {&range.first, &range.last, &range.stride};
    std::size_t count = 0;
    std::string_view rest = text;
    for (;; ++count) {
        if (count == 3) refuse();
        const std::size_t colon = rest.find(':');
        const std::string_view part = rest.substr(0, colon);
        if (!part.empty()) {
            const auto [end, problem] =
                std::from_chars(part.data(), part.data() + part.size(), *parts[count]);
            if (problem != std::errc() || end != part.data() + part.size()) refuse();
        }
        if (colon == std::string_view::npos) break;
        rest.remove_prefix(colon + 1);
    }
    if (text.empty()) refuse();
    if (count == 0) range.last = range.first;
    if (range.first < 1 || range.last < range.first || range.stride < 1) refuse();
    return range;
}

}  // namespace pleat
