// TM search: the superposition of two structures under which most of their atoms come close.
#pragma once

#include <cstdint>
#include <vector>

#include "pleat/core/view.h"

namespace pleat::rmsd {

/// Scores over all superpositions that were tried, each the best of its own.
struct TmScores {
    double tm = 0.0;      ///< (1 / L) sum 1 / (1 + (d / d0)^2)
    double gdt_ts = 0.0;  ///< mean share of the atoms within 1, 2, 4 and 8 angstrom
    Index superpositions = 0;
};

/// d0 of L atoms, angstrom: 1.24 (L - 15)^(1/3) - 1.8, at least 0.5. Zhang and Skolnick, Proteins
/// 57:702 (2004), equation 5.
double tm_scale(Index atoms);

/// One superposition as the search needs it.
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

/// Superposes the atoms of `mask` (1: taken, 0: not; at least one is) and measures all. By the
/// definition, and with vectors of atoms.
using Superpose = void (*)(const TmPair& pair, const double* mask, double scale, Superposed& found);
void superpose_reference(const TmPair& pair, const double* mask, double scale, Superposed& found);
void superpose_fast(const TmPair& pair, const double* mask, double scale, Superposed& found);

/// Sets `mask` and one bit an atom where the square is below `limit`; how many there are. Both
/// vectors of numbers hold whole vectors.
Index near_atoms(const std::vector<double>& squares, Index atoms, double limit,
                 std::vector<double>& mask, std::vector<std::uint64_t>& bits);

/// Searches as the TM-score program does: fragments of L, L/2, L/4, ... down to 4 atoms at every
/// place; each is superposed, then again and again all atoms that come closer than a threshold, up
/// to 20 times or until they stay the same. Holds what it works with: one a thread.
class TmSearch {
public:
    /// With `remembers`, a set of atoms that was superposed before ends its search, since what
    /// follows from it is known.
    TmSearch(Index atoms, Superpose superpose, bool remembers);
    /// Both structures [axis, atom], at any place.
    TmScores operator()(const double* p, const double* q);

private:
    void search_from(Index first, Index length);
    void measure();
    /// Takes the atoms nearer than `limit`, or so many more that they are three. True when they
    /// are others than before, and enough to be superposed in one way.
    bool select(double limit);
    bool is_new();

    Index atoms_, padded_;
    Superpose superpose_;
    bool remembers_;
    double scale_, reach_;
    std::vector<double> p_, q_, mask_, nearest_;
    std::vector<std::uint64_t> bits_, before_;
    std::vector<std::uint64_t> seen_;   // sets one after another
    std::vector<std::int32_t> places_;  // a hash table into them, -1: free
    Superposed found_;
    Index most_within_[4] = {};  // 1, 2, 4 and 8 angstrom
    TmScores scores_;
};

}  // namespace pleat::rmsd
