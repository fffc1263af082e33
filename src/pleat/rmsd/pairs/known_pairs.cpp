// Known pairs: reading and checking the files of a run.
#include "pleat/rmsd/pairs/known_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/npy.h"

namespace pleat::rmsd {

namespace {

[[noreturn]] void refuse(const std::filesystem::path& path, std::string_view text) {
    throw InputError(path.string(), 0, text);
}

void check_rows(const std::filesystem::path& path, const cluster::KnownPairs& known, Index frames) {
    const auto listed = static_cast<std::int64_t>(known.indices.size());
    if (static_cast<Index>(known.starts.size()) != frames + 1 || known.starts.front() != 0 ||
        known.starts.back() != listed ||
        !std::is_sorted(known.starts.begin(), known.starts.end()) ||
        known.values.size() != known.indices.size())
        refuse(path,
               fmt::format("expected the neighbours of {} frames in compressed rows, found others",
                           frames));
    for (Index i = 0; i < frames; ++i) {
        for (std::int64_t n = known.starts[i]; n < known.starts[i + 1]; ++n) {
            const std::int32_t j = known.indices[n];
            const bool ascends = n == known.starts[i] || known.indices[n - 1] < j;
            if (j < 0 || j >= frames || j == i || !ascends)
                refuse(path,
                       fmt::format("expected ascending other frames as neighbours of frame {}, "
                                   "found {}",
                                   i, j));
        }
    }
}

/// The third column of "from to pairs".
std::vector<std::int64_t> read_histogram(const std::filesystem::path& path) {
    const std::vector<std::uint8_t> bytes = read_file(path);
    std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    std::vector<std::int64_t> counts;
    for (std::int64_t line = 1; !text.empty(); ++line) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view row = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line == 1) continue;
        const std::string_view last = row.substr(row.rfind('\t') + 1);
        std::int64_t count = 0;
        const auto [stop, problem] = std::from_chars(last.data(), last.data() + last.size(), count);
        if (problem != std::errc() || stop != last.data() + last.size() || count < 0)
            throw InputError(path.string(), line,
                             fmt::format("expected a number of pairs, found '{}'", last));
        counts.push_back(count);
    }
    return counts;
}

}  // namespace

cluster::KnownPairs read_known_pairs(const std::filesystem::path& folder, Index frames,
                                     double bin_width, double min, double mean, double max) {
    const std::filesystem::path path = folder / "neighbours.npz";
    const NpzReader file(path);
    cluster::KnownPairs known;
    known.starts = file.get("starts").as<std::int64_t>(file.label("starts"));
    known.indices = file.get("indices").as<std::int32_t>(file.label("indices"));
    known.values = file.get("rmsd").as<float>(file.label("rmsd"));
    known.cutoff = file.scalar("cutoff");
    check_rows(path, known, frames);
    const Index pairs = pairs_before(frames, frames);
    known.statistics = {bin_width, read_histogram(folder / "histogram.tsv"),
                        mean * static_cast<double>(pairs), min, max};
    if (known.statistics.pairs() != pairs)
        refuse(folder / "histogram.tsv",
               fmt::format("expected {} pairs, found {}", pairs, known.statistics.pairs()));
    return known;
}

}  // namespace pleat::rmsd
