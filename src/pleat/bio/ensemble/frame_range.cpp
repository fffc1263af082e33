// Frame ranges: text to numbers.
#include "pleat/bio/ensemble/ensemble.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "pleat/core/error.h"

namespace pleat {

namespace {

/// Sets `number` unless `text` is empty; false for text that is not a number.
bool parse_part(std::string_view text, Index& number) {
    if (text.empty()) return true;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    return problem == std::errc() && end == text.data() + text.size();
}

/// Whether no ensemble has a frame in the range.
bool is_empty(const FrameRange& range) {
    return (range.first < 0) == (range.last < 0) && range.first >= range.last;
}

}  // namespace

FrameRange FrameRange::resolved(Index count) const {
    const auto from_start = [&](Index number) {
        return number < 0 ? std::max<Index>(0, number + count) : number;
    };
    return {from_start(first), from_start(last), step};
}

FrameRange parse_frame_range(std::string_view text) {
    const auto refuse = [&] {
        throw UsageError(fmt::format(
            "expected frames as first:last:step, counted from 0 and without the last, such as 0:10 "
            "for the first ten or -10: for the last ten; found '{}'",
            text));
    };
    FrameRange range;
    Index* const parts[] = {&range.first, &range.last, &range.step};
    std::size_t count = 0;
    std::string_view rest = text;
    for (;; ++count) {
        if (count == 3) refuse();
        const std::size_t colon = rest.find(':');
        if (!parse_part(rest.substr(0, colon), *parts[count])) refuse();
        if (colon == std::string_view::npos) break;
        rest.remove_prefix(colon + 1);
    }
    if (text.empty() || range.step < 1) refuse();
    const bool is_one_frame = count == 0;
    if (is_one_frame) range.last = range.first == -1 ? FrameRange::kEnd : range.first + 1;
    if (is_empty(range))
        throw UsageError(
            fmt::format("expected a range of frames, found '{}', which has none: ranges leave out "
                        "their last frame",
                        text));
    return range;
}

}  // namespace pleat
