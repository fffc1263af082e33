// TM-score and GDT_TS: the search over fragments and growing sets of near atoms.
#include <algorithm>
#include <cmath>
#include <utility>

#include "pleat/rmsd/cuda/gpu_comparisons.h"
#include "pleat/rmsd/measures/comparison.h"
#include "pleat/rmsd/measures/tm_search.h"

namespace pleat::rmsd {

namespace {

constexpr Index kLanes = 8;
constexpr Index kMinFragmentLength = 4;
constexpr int kMaxLengths = 6, kMaxRounds = 20;
constexpr std::size_t kMinTableSize = 1024;

}  // namespace

double tm_scale(Index atoms) {
    if (atoms <= 15) return 0.5;
    return std::max(0.5, 1.24 * std::cbrt(static_cast<double>(atoms - 15)) - 1.8);
}

double tm_distance_threshold(Index atoms) { return std::clamp(tm_scale(atoms), 4.5, 8.0); }

std::vector<Index> fragment_lengths(Index atoms) {
    const Index shortest = std::min(kMinFragmentLength, atoms);
    std::vector<Index> lengths;
    for (int n = 0; n < kMaxLengths - 1; ++n) {
        lengths.push_back(std::max(atoms >> n, shortest));
        if (lengths.back() == shortest) return lengths;
    }
    lengths.push_back(shortest);
    return lengths;
}

TmSearch::TmSearch(Index atoms, Superpose superpose, bool skips_tried_sets)
    : atoms_(atoms),
      padded_((atoms + kLanes - 1) / kLanes * kLanes),
      superpose_(superpose),
      skips_tried_sets_(skips_tried_sets),
      scale_(tm_scale(atoms)),
      distance_threshold_(tm_distance_threshold(atoms)),
      p_(3 * padded_),
      q_(p_.size()),
      mask_(padded_),
      bits_((atoms + 63) / 64),
      previous_bits_(bits_.size()) {
    result_.squares.resize(mask_.size());
}

TmScores TmSearch::operator()(const double* p, const double* q) {
    for (int axis = 0; axis < 3; ++axis) {
        std::copy_n(p + axis * atoms_, atoms_, p_.begin() + axis * padded_);
        std::copy_n(q + axis * atoms_, atoms_, q_.begin() + axis * padded_);
    }
    scores_ = {};
    tried_atom_sets_.clear();
    rounds_.clear();
    table_.assign(kMinTableSize, -1);
    std::fill(std::begin(max_within_), std::end(max_within_), Index{0});
    for (const Index length : fragment_lengths(atoms_))
        for (Index first = 0; first + length <= atoms_; ++first) search_from_segment(first, length);
    for (const Index count : max_within_)
        scores_.gdt_ts += 0.25 * static_cast<double>(count) / static_cast<double>(atoms_);
    return scores_;
}

void TmSearch::search_from_segment(Index first, Index length) {
    std::ranges::fill(mask_, 0.0);
    std::fill_n(mask_.begin() + first, length, 1.0);
    std::ranges::fill(previous_bits_, 0);
    measure();
    if (!select(distance_threshold_ - 1.0)) return;
    for (int round = 0; round < kMaxRounds; ++round) {
        if (skips_tried_sets_ && !is_new(round)) return;
        previous_bits_ = bits_;
        measure();
        if (!select(distance_threshold_ + 1.0)) return;
    }
}

void TmSearch::measure() {
    superpose_({p_.data(), q_.data(), atoms_, padded_}, mask_.data(), scale_, result_);
    ++scores_.superpositions;
    scores_.tm = std::max(scores_.tm, result_.sum / static_cast<double>(atoms_));
    for (int n = 0; n < 4; ++n) max_within_[n] = std::max(max_within_[n], result_.within[n]);
}

bool TmSearch::select(double limit) {
    constexpr Index kMinAtoms = 3;
    constexpr double kStep = 0.5;
    const auto take = [&](double square) {
        return near_atoms(result_.squares, atoms_, square, mask_, bits_);
    };
    Index count = take(limit * limit);
    if (count < kMinAtoms && atoms_ > kMinAtoms) {
        // Increases the threshold in steps until it includes at least three atoms.
        nearest_.assign(result_.squares.begin(), result_.squares.begin() + atoms_);
        std::nth_element(nearest_.begin(), nearest_.begin() + kMinAtoms - 1, nearest_.end());
        const double third = std::sqrt(nearest_[kMinAtoms - 1]);
        limit += kStep * (std::floor((third - limit) / kStep) + 1.0);
        // Ensures that rounding does not exclude the third atom.
        count = take(std::max(limit * limit, std::nextafter(nearest_[kMinAtoms - 1], HUGE_VAL)));
    }
    return count >= std::min(kMinAtoms, atoms_) && bits_ != previous_bits_;
}

bool TmSearch::is_new(int round) {
    const std::size_t words = bits_.size();
    const auto slot_of = [&](const std::uint64_t* set) {
        std::uint64_t hash = 0;
        for (std::size_t n = 0; n < words; ++n)
            hash = (hash ^ set[n]) * 0x9e3779b97f4a7c15ULL, hash ^= hash >> 29;
        std::size_t slot = hash % table_.size();
        while (table_[slot] >= 0 &&
               !std::equal(set, set + words, tried_atom_sets_.data() + words * table_[slot]))
            slot = (slot + 1) % table_.size();
        return slot;
    };
    const std::size_t slot = slot_of(bits_.data());
    if (table_[slot] >= 0) {
        std::int32_t& earliest = rounds_[table_[slot]];
        if (earliest <= round) return false;
        earliest = round;
        return true;
    }
    table_[slot] = static_cast<std::int32_t>(rounds_.size());
    rounds_.push_back(round);
    tried_atom_sets_.insert(tried_atom_sets_.end(), bits_.begin(), bits_.end());
    const std::size_t count = rounds_.size();
    if (2 * count > table_.size()) {
        table_.assign(4 * table_.size(), -1);
        for (std::size_t n = 0; n < count; ++n)
            table_[slot_of(tried_atom_sets_.data() + words * n)] = static_cast<std::int32_t>(n);
    }
    return true;
}

std::unique_ptr<Comparison> make_tm(FrameSet rows, FrameSet columns, Metric metric,
                                    const Context& context) {
    if (context.device.kind == Device::Kind::cuda)
        return make_tm_on_cuda(rows, columns, metric, context);
    const bool is_gdt = metric == Metric::gdt_ts,
               is_reference = context.device.kind == Device::Kind::reference;
    // Fragments and the sets of atoms that follow: several superpositions per atom.
    const auto atoms = static_cast<double>(rows->atom_count());
    const double cost = (is_reference ? 15.0 : 4.0) * atoms * (500.0 + 10.0 * atoms);
    const auto measure = [=] {
        TmSearch search(rows->atom_count(), is_reference ? superpose_reference : superpose_fast,
                        !is_reference);
        return [=, &rows, &columns, search = std::move(search)](Index i, Index j) mutable {
            const TmScores scores = search(rows->frame(i), columns->frame(j));
            return is_gdt ? scores.gdt_ts : scores.tm;
        };
    };
    return one_by_one(cost, measure, 1, 8);
}

}  // namespace pleat::rmsd
