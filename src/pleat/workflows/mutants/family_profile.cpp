// Family profile: log odds with background counts.
#include "pleat/workflows/mutants/family_profile.h"

#include <cmath>

namespace pleat::mutants {

ProfileScoring family_profile(const couplings::ModelDescription& about) {
    constexpr double kBackgroundCounts = 5, kPerBit = 100;
    constexpr int kGapOpen = 800, kGapExtend = 100;
    const Index columns = about.frequencies.extent(0), residues = about.alphabet->size() - 1;
    const double weight = about.effective_sequences;
    std::vector<double> background(static_cast<std::size_t>(residues), 1.0);
    double total = static_cast<double>(residues);
    for (Index i = 0; i < columns; ++i) {
        for (Index a = 0; a < residues; ++a) {
            const double count = weight * about.frequencies(i, a);
            background[static_cast<std::size_t>(a)] += count;
            total += count;
        }
    }
    ProfileScoring profile{Array<std::int32_t, 2>(columns, residues + 1), kGapOpen, kGapExtend};
    for (Index i = 0; i < columns; ++i) {
        double count = 0;
        for (Index a = 0; a < residues; ++a) count += weight * about.frequencies(i, a);
        for (Index a = 0; a < residues; ++a) {
            const double expected = background[static_cast<std::size_t>(a)] / total;
            const double odds = (weight * about.frequencies(i, a) + kBackgroundCounts * expected) /
                                ((count + kBackgroundCounts) * expected);
            profile.scores(i, a) =
                static_cast<std::int32_t>(std::lround(kPerBit * std::log2(odds)));
        }
    }
    return profile;
}

std::vector<Index> profile_columns(const ProfileScoring& profile,
                                   std::span<const std::uint8_t> sequence) {
    const std::vector<Index> residues = profile_partners(profile, sequence);
    std::vector<Index> columns(sequence.size(), -1);
    for (std::size_t i = 0; i < residues.size(); ++i)
        if (residues[i] >= 0)
            columns[static_cast<std::size_t>(residues[i])] = static_cast<Index>(i);
    return columns;
}

}  // namespace pleat::mutants
