// Parameters: the options of clustering and their ranges, and which of them go together.
#include <fmt/format.h>

#include <cmath>

#include "pleat/cluster/cluster.h"
#include "pleat/cluster/stage.h"
#include "pleat/core/error.h"
#include "pleat/core/files/text.h"

namespace pleat::cluster {

namespace {

// Distances beyond these bounds cannot be compared in float32.
constexpr double kMinCutoff = 1e-30, kMaxCutoff = 1e30, kMaxCount = 1e9;
constexpr double kMaxValues = 10000;
constexpr std::string_view kCutoffs = "a number from 1e-30 to 1e30 or first:last:step of such",
                           kCounts = "a whole number >= 1 or first:last[:step]";

[[noreturn]] void refuse(std::string_view option, std::string_view expected,
                         std::string_view found) {
    throw UsageError(fmt::format("--{}: expected {}, found '{}'", option, expected, found));
}

/// The numbers between colons; empty if one of the texts is not a number.
std::vector<double> numbers_between_colons(std::string_view text) {
    std::vector<double> numbers;
    while (true) {
        const std::size_t colon = text.find(':');
        const std::string_view word = text.substr(0, colon);
        double value = 0;
        if (!parse_number(word, value) || !std::isfinite(value)) return {};
        numbers.push_back(value);
        if (colon == std::string_view::npos) return numbers;
        text.remove_prefix(colon + 1);
    }
}

/// The number of steps in the range; a last value that exceeds the end only by rounding counts.
double steps_of(const ValueRange& range) {
    return range.step > 0 ? std::floor((range.last - *range.first) / range.step + 1e-9) : 0.0;
}

void check_range(const ValueRange& range, std::string_view option, std::string_view expected,
                 const std::string& text) {
    if (!(range.step >= 0) || range.last < *range.first) refuse(option, expected, text);
    if (steps_of(range) >= kMaxValues)
        refuse(option, fmt::format("at most {} values", kMaxValues), text);
}

}  // namespace

std::vector<double> ValueRange::values() const {
    std::vector<double> all;
    if (!first) return all;
    const auto steps = static_cast<int>(steps_of(*this));
    for (int n = 0; n <= steps; ++n) all.push_back(*first + n * step);
    return all;
}

template <bool kAreWhole>
std::string RangeOf<kAreWhole>::text() const {
    if (!first) return {};
    if (step == 0) return fmt::format("{}", *first);
    return kAreWhole && step == 1 ? fmt::format("{}:{}", *first, last)
                                  : fmt::format("{}:{}:{}", *first, last, step);
}

template <bool kAreWhole>
void RangeOf<kAreWhole>::check(std::string_view option) const {
    if (!first) return;
    const auto is_right = [](double number) {
        return kAreWhole ? number >= 1 && number <= kMaxCount && number == std::floor(number)
                         : number >= kMinCutoff && number <= kMaxCutoff;
    };
    if (!is_right(*first) || !is_right(last) || (kAreWhole && step != 0 && !is_right(step)))
        refuse(option, kAreWhole ? kCounts : kCutoffs, text());
    check_range(*this, option, kAreWhole ? kCounts : kCutoffs, text());
}

template <bool kAreWhole>
RangeOf<kAreWhole> RangeOf<kAreWhole>::parse(std::string_view text, std::string_view option) {
    if (text.empty()) return {};
    const std::vector<double> numbers = numbers_between_colons(text);
    const std::size_t count = numbers.size();
    const bool has_step = count == 3;
    if ((count != 1 && !has_step && !(kAreWhole && count == 2)) ||
        (has_step && !(kAreWhole ? numbers[2] != 0 : numbers[2] > 0)))
        refuse(option, kAreWhole ? kCounts : kCutoffs, text);
    const RangeOf range = count == 1 ? RangeOf(numbers[0])
                                     : RangeOf(numbers[0], numbers[1], has_step ? numbers[2] : 1);
    range.check(option);
    return range;
}

template struct RangeOf<false>;
template struct RangeOf<true>;

namespace {

constexpr std::string_view kMethods[] = {
    "gromos",   "gmx",    "single",        "complete",         "average",        "ward",
    "kmedoids", "dbscan", "density-peaks", "iterated-density", "jarvis-patrick", "kcenters"};

MethodFamily family_of(Method method) {
    switch (method) {
        case Method::gromos:
        case Method::gmx: return MethodFamily::greedy;
        case Method::dbscan: return MethodFamily::dbscan;
        case Method::kmedoids: return MethodFamily::medoids;
        case Method::density_peaks: return MethodFamily::peaks;
        case Method::iterated_density: return MethodFamily::rounds;
        case Method::jarvis_patrick: return MethodFamily::shared;
        case Method::kcenters: return MethodFamily::centres;
        default: return MethodFamily::tree;
    }
}

}  // namespace

std::span<const std::string_view> names_of(Method) { return kMethods; }

std::vector<Field> fields(Parameters& p) {
    return {
        {.name = "method",
         .target = &p.method,
         .help = "gromos: the item with the most neighbours first, as Daura et al. define it; gmx: "
                 "exactly as gmx cluster -method gromos; single, complete, average, ward: trees; "
                 "kmedoids; dbscan; density-peaks; iterated-density: the items that remain when "
                 "those farthest from all others are dropped repeatedly; jarvis-patrick: links "
                 "items that are in each other's lists of neighbours and have neighbours in "
                 "common, as gmx cluster -method jarvis-patrick; kcenters: the item farthest from "
                 "all centres is the next one, for millions of frames",
         .letter = 'm'},
        {.name = "cutoff",
         .target = &p.cutoff,
         .help =
             "Items below this distance (angstrom between frames) are neighbours; trees are cut "
             "at this height; kcenters adds centres until every item is below it, before "
             "sweeps. first:last:step tries several values and uses the one with the "
             "largest mean silhouette",
         .letter = 'c',
         .value_name = "DISTANCE"},
        {.name = "k",
         .target = &p.k,
         .help = "Number of clusters for trees, kmedoids, kcenters and density-peaks; "
                 "first:last[:step] tries several",
         .letter = 'k',
         .value_name = "NUMBER"},
        {.name = "min-neighbours",
         .target = &p.min_neighbours,
         .help = "Neighbours, including itself, that make an item a core of dbscan",
         .min = 1,
         .max = 2e9},
        {.name = "keep",
         .target = &p.keep,
         .help = "Number of items that iterated-density keeps",
         .min = 1,
         .automatic = "none"},
        {.name = "drop",
         .target = &p.drop,
         .help = "Fraction of the remaining items that each round of iterated-density drops",
         .min = 0,
         .max = 0.9,
         .min_excluded = true},
        {.name = "nearest",
         .target = &p.nearest,
         .help = "Number of nearest items that count as neighbours of an item in jarvis-patrick "
                 "(with --cutoff only those below it); 0: all below --cutoff",
         .min = 0,
         .max = 1e6},
        {.name = "common",
         .target = &p.common,
         .help = "Number of common neighbours that links two items in jarvis-patrick",
         .min = 0,
         .max = 2e9},
        {.name = "medoid-sweeps",
         .target = &p.medoid_sweeps,
         .help =
             "How often kcenters then moves each centre to the best of three random members, if "
             "better, and gives all items to their nearest centre",
         .min = 0,
         .max = 1000},
        {.name = "silhouettes",
         .target = &p.silhouettes,
         .help = "Measure how well each cluster is separated from the others; always done if "
                 "several values are tried"},
        {.name = "bin-width",
         .target = &p.bin_width,
         .help = "Width of the bins of the histogram of distances",
         .min = 1e-6,
         .max = 1e6}};
}

Trials trials_of(const Parameters& p) {
    p.cutoff.check("cutoff");
    p.k.check("k");
    Trials trials{family_of(p.method), p.cutoff.values(), p.k.values()};
    const bool has_cutoff = p.cutoff.is_set(), has_k = p.k.is_set();
    const auto refuse = [&](const char* advice) {
        throw UsageError(
            fmt::format("--method {}: {}", kMethods[static_cast<std::size_t>(p.method)], advice));
    };
    if (trials.family != MethodFamily::dbscan && p.min_neighbours != Parameters().min_neighbours)
        refuse("leave --min-neighbours out: only dbscan has it");
    const bool has_rounds = trials.family == MethodFamily::rounds;
    if (!has_rounds && (p.keep || p.drop != Parameters().drop))
        refuse("leave --keep and --drop out: only iterated-density has them");
    const Parameters usual;
    if (trials.family != MethodFamily::shared &&
        (p.nearest != usual.nearest || p.common != usual.common))
        refuse("leave --nearest and --common out: only jarvis-patrick has them");
    if (trials.family != MethodFamily::centres && p.medoid_sweeps != usual.medoid_sweeps)
        refuse("leave --medoid-sweeps out: only kcenters has it");
    switch (trials.family) {
        case MethodFamily::shared:
            if (has_k) refuse("leave --k out: clusters are what neighbours connect");
            if (p.nearest == 0 && !has_cutoff) refuse("give --cutoff, or --nearest above 0");
            if (p.nearest > 0 && p.common >= p.nearest)
                refuse(
                    "give --common below --nearest: two items that are among each other's nearest "
                    "have at most --nearest - 1 neighbours in common");
            trials.uses_nearest = p.nearest > 0;
            trials.has_cutoff = has_cutoff;
            if (!has_cutoff) trials.cutoffs = {0.0};
            break;
        case MethodFamily::greedy:
        case MethodFamily::dbscan:
            if (!has_cutoff) refuse("give --cutoff");
            if (has_k) refuse("give --cutoff alone, not --k");
            break;
        case MethodFamily::tree:
        case MethodFamily::centres:
            if (!has_cutoff && !has_k) refuse("give --cutoff or --k");
            if (has_cutoff && has_k) refuse("give either --cutoff or --k, not both");
            break;
        case MethodFamily::medoids:
            if (!has_k) refuse("give --k");
            if (has_cutoff) refuse("give --k alone, not --cutoff");
            break;
        case MethodFamily::peaks:
            if (!has_k) refuse("give --k");
            if (trials.cutoffs.size() > 1 && trials.counts.size() > 1)
                refuse("give several values either of --cutoff or of --k, not of both");
            break;
        case MethodFamily::rounds:
            if (!p.keep) refuse("give --keep");
            if (has_cutoff || has_k) refuse("give --keep alone, not --cutoff or --k");
            break;
    }
    return trials;
}

void check_options(const Parameters& parameters) {
    Parameters own = parameters;
    check(fields(own));
    trials_of(own);
}

}  // namespace pleat::cluster
