// Sequence tree: Prim's algorithm for each chunk, depth-first positions, and lists of changed rows.
#include "pleat/couplings/kernel/sequence_tree.h"

#include <algorithm>
#include <limits>

#include "pleat/core/array.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/couplings/kernel/column_work.h"

namespace pleat::couplings {

namespace {

// Prim costs chunk^2 / 2 distances, and a chunk's sums (2048 rows of 96 bytes) stay in L2.
constexpr Index kChunk = 2048;
constexpr int kMaxGenerations = 24;

struct Chunk {
    Index first, count;
    std::vector<std::int32_t> parent;  // within the chunk, by sequence; -1 for the first
};

// Prim's algorithm: the tree grows from the chunk's first sequence, each time by the nearest
// outside sequence; the earliest if equal.
void span_tree(View<const std::uint8_t, 2> padded, Chunk& chunk) {
    const Index width = padded.extent(1);
    chunk.parent.assign(chunk.count, -1);
    std::vector<std::int32_t> outside(chunk.count - 1), nearest(chunk.count, 0);
    std::vector<std::int32_t> distance(chunk.count, std::numeric_limits<std::int32_t>::max());
    for (Index k = 1; k < chunk.count; ++k) outside[k - 1] = static_cast<std::int32_t>(k);
    std::vector<std::int32_t> fresh(chunk.count);
    const std::uint8_t* base = padded.data + chunk.first * width;
    std::int32_t added = 0;
    while (!outside.empty()) {
        hamming_distances(base, width, added, outside, fresh.data());
        std::size_t best = 0;
        for (std::size_t k = 0; k < outside.size(); ++k) {
            const std::int32_t n = outside[k];
            if (fresh[k] < distance[n]) {
                distance[n] = fresh[k];
                nearest[n] = added;
            }
            const std::int32_t nearest_yet = outside[best];
            if (distance[n] < distance[nearest_yet] ||
                (distance[n] == distance[nearest_yet] && n < nearest_yet)) {
                best = k;
            }
        }
        added = outside[best];
        chunk.parent[added] = nearest[added];
        outside[best] = outside.back();
        outside.pop_back();
    }
}

// Depth-first positions: a parent is near its children, so its sum is still in cache.
void append_depth_first(const Chunk& chunk, std::vector<std::int32_t>& order,
                        std::vector<std::int32_t>& parent) {
    std::vector<std::vector<std::int32_t>> children(chunk.count);
    for (Index k = chunk.count - 1; k > 0; --k) {
        children[chunk.parent[k]].push_back(static_cast<std::int32_t>(k));
    }
    std::vector<std::pair<std::int32_t, std::int32_t>> stack = {
        {0, -1}};  // (sequence, parent position)
    while (!stack.empty()) {
        const auto [sequence, above] = stack.back();
        stack.pop_back();
        const auto position = static_cast<std::int32_t>(order.size());
        order.push_back(static_cast<std::int32_t>(chunk.first + sequence));
        parent.push_back(above);
        for (const std::int32_t child : children[sequence]) stack.push_back({child, position});
    }
}

// Lists for each position the rows that change against its parent. Sequences far from their parent
// and ends of long chains become roots.
void list_changes(View<const std::uint8_t, 2> letters, int letter_count, int row_stride,
                  SequenceTree& tree) {
    const Index columns = letters.extent(1);
    std::vector<int> generation(tree.count(), 0);
    std::vector<std::uint32_t> added, removed;
    tree.begin.push_back(0);
    for (Index k = 0; k < tree.count(); ++k) {
        const std::uint8_t* current = &letters(tree.order[k], 0);
        const auto row = [&](Index j, std::uint8_t letter) {
            return static_cast<std::uint32_t>((j * letter_count + letter) * row_stride);
        };
        if (tree.parent[k] >= 0) {
            const std::uint8_t* above = &letters(tree.order[tree.parent[k]], 0);
            added.clear();
            removed.clear();
            for (Index j = 0; j < columns; ++j) {
                if (current[j] == above[j]) continue;
                added.push_back(row(j, current[j]));
                removed.push_back(row(j, above[j]));
            }
            generation[k] = generation[tree.parent[k]] + 1;
            const bool far = 2 * static_cast<Index>(added.size()) >= columns;
            if (far || generation[k] > kMaxGenerations) tree.parent[k] = -1;
        }
        if (tree.parent[k] < 0) {
            generation[k] = 0;
            for (Index j = 0; j < columns; ++j) tree.rows.push_back(row(j, current[j]));
        } else {
            tree.rows.insert(tree.rows.end(), added.begin(), added.end());
            tree.rows.insert(tree.rows.end(), removed.begin(), removed.end());
        }
        tree.begin.push_back(tree.rows.size());
    }
}

// Makes the inverse lists by counting and then filling, so that positions ascend within each list.
void list_positions(const std::vector<Chunk>& chunks, int row_stride, SequenceTree& tree) {
    const auto each = [&](auto&& visit) {
        Index k = 0;
        for (std::size_t c = 0; c < chunks.size(); ++c) {
            for (const Index stop = k + chunks[c].count; k < stop; ++k) {
                const std::uint64_t first = tree.begin[k], last = tree.begin[k + 1];
                const std::uint64_t middle = tree.parent[k] < 0 ? last : first + (last - first) / 2;
                for (std::uint64_t r = first; r < last; ++r) {
                    const Index row = tree.rows[r] / row_stride;
                    visit(2 * (static_cast<Index>(c) * tree.row_count + row) + (r >= middle), k);
                }
            }
        }
    };
    const Index lists = 2 * tree.chunk_count * tree.row_count;
    tree.position_begin.assign(lists + 1, 0);
    each([&](Index list, Index) { ++tree.position_begin[list + 1]; });
    for (Index list = 0; list < lists; ++list)
        tree.position_begin[list + 1] += tree.position_begin[list];
    std::vector<std::uint64_t> next(tree.position_begin.begin(), tree.position_begin.end() - 1);
    tree.positions.resize(tree.rows.size());
    each([&](Index list, Index k) {
        tree.positions[next[list]++] = static_cast<std::uint32_t>(k * row_stride);
    });
}

Index chunks_of(Index sequences) { return (sequences + kChunk - 1) / kChunk; }

}  // namespace

std::int64_t tree_bytes(Index sequences, Index columns, int letter_count) {
    // At most L numbers per sequence in `rows` and in `positions`; the padded letters; five numbers
    // per position; and two per list in `position_begin` and while it is filled.
    const std::int64_t padded = (columns + 63) / 64 * 64;
    const std::int64_t lists = 2 * chunks_of(sequences) * columns * letter_count;
    return sequences * (8 * columns + padded + 40) + 2 * 8 * (lists + 1);
}

SequenceTree build_sequence_tree(View<const std::uint8_t, 2> letters, int letter_count,
                                 int row_stride, int threads) {
    const Index count = letters.extent(0), columns = letters.extent(1);
    const Index width = (columns + 63) / 64 * 64;
    Array<std::uint8_t, 2> padded(count, width);
    for (Index n = 0; n < count; ++n) std::copy_n(&letters(n, 0), columns, &padded(n, 0));

    SequenceTree tree;
    tree.chunk_count = chunks_of(count);
    tree.row_count = columns * letter_count;
    std::vector<Chunk> chunks;
    for (Index c = 0; c < tree.chunk_count; ++c) {
        const Index first = count * c / tree.chunk_count;
        chunks.push_back({first, count * (c + 1) / tree.chunk_count - first, {}});
    }
    parallel_for(threads, tree.chunk_count, [&](Index c, int) { span_tree(padded, chunks[c]); });
    for (const Chunk& chunk : chunks) append_depth_first(chunk, tree.order, tree.parent);
    list_changes(letters, letter_count, row_stride, tree);
    list_positions(chunks, row_stride, tree);
    return tree;
}

}  // namespace pleat::couplings
