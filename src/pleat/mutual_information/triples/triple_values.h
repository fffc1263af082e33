// Triple values: every reported number of triples, one tile at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pleat/core/context.h"
#include "pleat/mutual_information/exact/triple_moments.h"
#include "pleat/mutual_information/kernel/kernel.h"
#include "pleat/mutual_information/mutual_information.h"
#include "pleat/mutual_information/pairs/pair_run.h"

namespace pleat::mutual_information {

/// The numbers of one tile, and the counts from which they are computed.
struct TripleTileValues {
    TripleTile tile;
    Array<double, 2> values;  ///< [number, triple of the tile]
    NullSums sums;            ///< empty without sampling
    View<const double, 1> z() const { return values.view()[z_row]; }
    int z_row = -1;  ///< row of the exact Z in `values`; -1: not computed
};

/// Computes the numbers that Parameters::null asks for. Their names are those of the arrays in
/// triples.npz; README.md of the engine defines each.
class TripleValues {
public:
    TripleValues(const Problem& problem, Kernel& kernel, const PairRun& pairs,
                 const Parameters& parameters, const Context& context);

    const std::vector<std::string>& names() const { return names_; }
    /// The row of the number with this name in TripleTileValues::values; -1 if it is not computed.
    int number(std::string_view name) const;
    TripleTileValues compute(const Tile& tile) const;

private:
    void fill_information(const std::vector<std::int64_t>& observed, TripleTileValues& at) const;
    void fill_exact(TripleTileValues& at) const;
    void fill_sampled(const std::vector<std::int64_t>& observed, TripleTileValues& at) const;
    void fill_excess(TripleTileValues& at) const;

    const Problem& problem_;
    Kernel& kernel_;
    const PairRun& pairs_;
    const Parameters& parameters_;
    Context quiet_context_;  ///< without progress, for stages within a tile
    int threads_ = 1;
    std::vector<std::int64_t> margin_sums_;
    std::unique_ptr<TripleMoments> moments_;
    std::vector<std::string> names_;
};

}  // namespace pleat::mutual_information
