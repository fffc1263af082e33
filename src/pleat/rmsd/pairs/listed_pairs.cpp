// Listed pairs: reading and checking the files of a run, and the rows below a cutoff.
#include "pleat/rmsd/pairs/listed_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "pleat/cluster/distances/neighbours.h"
#include "pleat/core/error.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/files/read_file.h"

namespace pleat::rmsd {

namespace {

[[noreturn]] void refuse(const std::filesystem::path& path, std::string_view text) {
    throw InputError(path.string(), 0, text);
}

void check_rows(const std::filesystem::path& path, const PairList& list, Index frames) {
    const auto listed = static_cast<std::int64_t>(list.indices.size());
    if (static_cast<Index>(list.starts.size()) != frames + 1 || list.starts.front() != 0 ||
        list.starts.back() != listed || !std::is_sorted(list.starts.begin(), list.starts.end()) ||
        list.rmsd.size() != list.indices.size())
        refuse(path,
               fmt::format("expected the neighbours of {} frames in compressed rows, found others",
                           frames));
    for (Index i = 0; i < frames; ++i) {
        for (std::int64_t n = list.starts[i]; n < list.starts[i + 1]; ++n) {
            const std::int32_t j = list.indices[n];
            const bool ascends = n == list.starts[i] || list.indices[n - 1] < j;
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

PairList read_pair_list(const std::filesystem::path& folder, Index frames, double bin, double least,
                        double mean, double most) {
    const std::filesystem::path path = folder / "neighbours.npz";
    const NpzReader file(path);
    PairList list;
    list.starts = file.get("starts").as<std::int64_t>(file.label("starts"));
    list.indices = file.get("indices").as<std::int32_t>(file.label("indices"));
    list.rmsd = file.get("rmsd").as<float>(file.label("rmsd"));
    list.cutoff = file.scalar("cutoff");
    check_rows(path, list, frames);
    list.bin = bin;
    const Index pairs = cluster::pairs_before(frames, frames);
    list.totals = {read_histogram(folder / "histogram.tsv"), mean * static_cast<double>(pairs),
                   least, most};
    std::int64_t counted = 0;
    for (const std::int64_t count : list.totals.histogram) counted += count;
    if (counted != pairs)
        refuse(folder / "histogram.tsv",
               fmt::format("expected {} pairs, found {}", pairs, counted));
    return list;
}

std::unique_ptr<cluster::Neighbours> ListedPairs::listed_neighbours(double cutoff) const {
    if (!(cutoff <= list_.cutoff)) return nullptr;
    const double unsure = doubt(cutoff);
    const auto least = static_cast<float>(cutoff - unsure),
               most = static_cast<float>(cutoff + unsure);
    cluster::NeighbourList below{{0}, {}};
    for (Index i = 0; i < count(); ++i) {
        for (std::int64_t n = list_.starts[i]; n < list_.starts[i + 1]; ++n) {
            const std::int32_t j = list_.indices[n];
            const float value = list_.rmsd[n];
            const bool is_near =
                value < least ||
                (value < most && is_below(std::min<Index>(i, j), std::max<Index>(i, j), cutoff));
            if (is_near) below.indices.push_back(j);
        }
        below.starts.push_back(static_cast<std::int64_t>(below.indices.size()));
    }
    return cluster::make_neighbours(std::move(below));
}

std::optional<cluster::PairTotals> ListedPairs::listed_totals(double bin) const {
    if (bin != list_.bin) return std::nullopt;
    return list_.totals;
}

}  // namespace pleat::rmsd
