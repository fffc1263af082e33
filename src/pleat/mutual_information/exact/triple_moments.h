// Triple moments: exact mean and variance of MI_ijk when columns are permuted, tile by tile.
#pragma once

#include <cstdint>
#include <memory>

#include "pleat/core/context.h"
#include "pleat/core/view.h"
#include "pleat/mutual_information/count/columns.h"
#include "pleat/mutual_information/triples/tiles.h"

namespace pleat::mutual_information {

/// Mean, and population variance, in bits of MI_ijk = H_i + H_j + H_k - H_ijk over all permutations
/// of the columns against each other. A pair (i, j) and a third column k each become one vector of
/// a few hundred to a thousand numbers, of which each triple's moments are a scalar product
/// (README.md). The same bits for any number of threads. One call at a time.
class TripleMoments {
public:
    /// Prepares every column as a third one; `columns` and what `context` points to must outlive
    /// this. Stage "exact" of the progress; throws Cancelled.
    TripleMoments(const Columns& columns, const Context& context, bool with_variance);
    ~TripleMoments();
    TripleMoments(const TripleMoments&) = delete;
    TripleMoments& operator=(const TripleMoments&) = delete;

    /// [triple of the tile]. Pairs are kept until a tile has other i or j, so give tiles that
    /// differ in k alone one after the other, as triple_tiles() does.
    void mean(const TripleTile& tile, View<double, 1> mean);
    /// Needs `with_variance`.
    void moments(const TripleTile& tile, View<double, 1> mean, View<double, 1> variance);

    /// What decides how much memory it takes.
    struct Size {
        Index rows, columns;
        int symbols;  ///< of a column, at most
        Index side;   ///< columns on a side of a tile
        int threads;
        bool with_variance;
    };
    /// Bytes at most: what stays from tile to tile, 76 kB a distinct margin of a column at most (of
    /// some 10 kB where columns are conserved) and 1 kB a row among it, or what preparing takes.
    static std::int64_t bytes(const Size& size);
    /// Of these, the pairs of a tile, which come with the first.
    static std::int64_t tile_bytes(const Size& size);

    /// Seconds on one thread that all triples of `columns` take, within a factor of two or three.
    static double seconds(const Columns& columns, bool with_variance);

private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace pleat::mutual_information
