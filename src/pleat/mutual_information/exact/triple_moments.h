// Triple moments: exact mean and variance of MI_ijk when columns are permuted, tile by tile.
#pragma once

#include <cstdint>
#include <memory>

#include "pleat/core/context.h"
#include "pleat/core/view.h"
#include "pleat/mutual_information/count/columns.h"
#include "pleat/mutual_information/count/tiles.h"

namespace pleat::mutual_information {

/// Mean, and population variance, in bits of MI_ijk = H_i + H_j + H_k - H_ijk over all permutations
/// of the columns against each other (README.md, section 5). The same bits for any number of
/// threads. Not thread-safe.
class TripleMoments {
public:
    /// Computes the vectors of every column as a third one; `columns` and what `context` points to
    /// must outlive this. Stage "exact" of the progress; throws Cancelled.
    TripleMoments(const CodedColumns& columns, const Context& context, bool with_variance);
    ~TripleMoments();
    TripleMoments(const TripleMoments&) = delete;
    TripleMoments& operator=(const TripleMoments&) = delete;

    /// [triple of the tile]: sets the means. Pairs are kept until a tile has other i or j, so
    /// process tiles that differ only in k one after another, as triple_tiles() orders them.
    void mean(const TripleTile& tile, View<double, 1> mean);
    /// Needs `with_variance`.
    void moments(const TripleTile& tile, View<double, 1> mean, View<double, 1> variance);

    /// The sizes that determine the memory use.
    struct Size {
        Index rows, columns;
        int symbols;  ///< maximum number of symbols per column
        Index side;   ///< columns on a side of a tile
        int threads;
        bool with_variance;
    };
    /// Maximum bytes: what stays from tile to tile, at most 76 kB per distinct margin of a column
    /// (some 10 kB for conserved columns) and 1 kB per row, or what the constructor takes.
    static std::int64_t bytes(const Size& size);
    /// The part of bytes() that stores the pairs of a tile, and that the first tile allocates.
    static std::int64_t tile_bytes(const Size& size);

    /// Estimated seconds on one thread for all triples of `columns`, right to a factor of three.
    static double seconds(const CodedColumns& columns, bool with_variance);

private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace pleat::mutual_information
