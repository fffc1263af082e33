// TM search: the superposition of two structures under which most of their atoms come close.
#pragma once

#include <cstdint>
#include <vector>

#include "pleat/core/view.h"

namespace pleat::rmsd {

/// The best value of each score over all tried superpositions.
struct TmScores {
    double tm = 0.0;      ///< (1 / L) sum 1 / (1 + (d / d0)^2)
    double gdt_ts = 0.0;  ///< mean share of the atoms within 1, 2, 4 and 8 angstrom
    Index superpositions = 0;
};

/// d0 of L atoms, angstrom: 1.24 (L - 15)^(1/3) - 1.8, at least 0.5. Zhang and Skolnick, Proteins
/// 57:702 (2004), equation 5.
double tm_scale(Index atoms);

/// The distance in angstrom below which atoms are superposed again: minus 1 for fragments, plus 1
/// for later sets.
double tm_distance_threshold(Index atoms);

/// Lengths of the fragments with which searches begin, longest first; at most 6.
std::vector<Index> fragment_lengths(Index atoms);

/// The result of one superposition.
struct Superposed {
    std::vector<double> squares;  ///< of the distances, angstrom^2; atoms up to whole vectors
    double sum = 0.0;             ///< of 1 / (1 + (d / d0)^2)
    Index within[4] = {};         ///< atoms at most 1, 2, 4 and 8 angstrom away
};

/// A pair of structures, [axis, atom] with `padded` atoms on each axis, the last ones zeros.
struct TmPair {
    const double *p, *q;
    Index atoms, padded;
};

/// Superposes the atoms of `mask` (1: used, 0: not; at least one is used) and measures all atoms;
/// there is a plain version and one with SIMD.
using Superpose = void (*)(const TmPair& pair, const double* mask, double scale,
                           Superposed& result);
void superpose_reference(const TmPair& pair, const double* mask, double scale, Superposed& result);
void superpose_fast(const TmPair& pair, const double* mask, double scale, Superposed& result);

/// Sets `mask` and one bit per atom if the square is below `limit`; returns how many there are. The
/// lengths of `squares` and `mask` are padded to whole SIMD vectors.
Index near_atoms(const std::vector<double>& squares, Index atoms, double limit,
                 std::vector<double>& mask, std::vector<std::uint64_t>& bits);

/// Searches as the TM-score program does: fragments of L, L/2, L/4, ... down to 4 atoms at every
/// position; each is superposed, then all atoms that come closer than a threshold, up to 20 times
/// or until they stay the same. Has its own working memory: use one per thread.
class TmSearch {
public:
    /// With `skips_tried_sets`, a search ends at a set of atoms that was superposed before, since
    /// its continuation is known, unless the set was then reached in a later round, with fewer
    /// rounds left.
    TmSearch(Index atoms, Superpose superpose, bool skips_tried_sets);
    /// Both structures are [axis, atom] and need not be centred.
    TmScores operator()(const double* p, const double* q);

private:
    void search_from_segment(Index first, Index length);
    void measure();
    /// Selects the atoms nearer than `limit`, or the three nearest if there are fewer. Returns true
    /// if they differ from the previous atoms and suffice for a superposition.
    bool select(double limit);
    bool is_new(int round);

    Index atoms_, padded_;
    Superpose superpose_;
    bool skips_tried_sets_;
    double scale_, distance_threshold_;
    std::vector<double> p_, q_, mask_, nearest_;
    std::vector<std::uint64_t> bits_, previous_bits_;
    std::vector<std::uint64_t> tried_atom_sets_;  // sets one after another
    std::vector<std::int32_t> rounds_;            // of each of them: the earliest so far
    std::vector<std::int32_t> table_;  // a hash table of positions in `tried_atom_sets_`, -1: free
    Superposed result_;
    Index max_within_[4] = {};  // 1, 2, 4 and 8 angstrom
    TmScores scores_;
};

}  // namespace pleat::rmsd
