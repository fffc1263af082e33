// Tree null: Fitch's states, and substitutions redistributed over branches or columns.
#include "pleat/phylogeny/tree_null.h"

#include <Random123/philox.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <utility>

namespace pleat::phylogeny {

namespace {

constexpr int kMaxStates = 32;

/// What a word decides: the last word of the counter.
enum Purpose : std::uint32_t {
    kState = 0x54530000,   // "TS": which of Fitch's states
    kChange = 0x54430000,  // "TC": whether a column changes on a branch
    kTarget = 0x54540000,  // "TT": to which state
    kColumn = 0x544c0000,  // "TL": which column gets a substitution
    kRoot = 0x54520000     // "TR": the order of the root's columns
};

/// Words of Philox4x32-10 (Salmon et al., SC 2011): word `index` of a stream is word index % 4 of
/// the block with key = (low, high 32 bits of the seed), counter = (index / 4, node, null,
/// purpose).
class Words {
public:
    Words(std::uint64_t seed, std::uint32_t null, Index node, Purpose purpose)
        : key_{{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}},
          counter_{{0, static_cast<std::uint32_t>(node), null, purpose}} {}

    std::uint32_t operator()(Index index) {
        const Index block = index / 4;
        if (block != known_block_) {
            counter_[0] = static_cast<std::uint32_t>(block);
            words_ = r123::Philox4x32()(counter_, key_);
            known_block_ = block;
        }
        return words_[static_cast<std::size_t>(index % 4)];
    }
    /// An integer in [0, range); the bias is below range / 2^32.
    std::uint32_t below(Index index, std::size_t range) {
        return static_cast<std::uint32_t>((std::uint64_t{(*this)(index)} * range) >> 32);
    }

private:
    r123::Philox4x32::key_type key_;
    r123::Philox4x32::ctr_type counter_, words_{};
    Index known_block_ = -1;
};

/// The state at position `number` of a set.
std::uint8_t state_at(std::uint32_t set, std::uint32_t number) {
    for (; number > 0; --number) set &= set - 1;
    return static_cast<std::uint8_t>(std::countr_zero(set));
}

/// Fitch's sets (Hartigan, Biometrics 29:53, 1973, for any number of children): the states that the
/// most children allow. Adds to `scores` the children that do not.
void join_sets(const std::vector<const std::uint32_t*>& children, int states,
               std::span<std::uint32_t> set, std::vector<Index>& scores) {
    for (std::size_t column = 0; column < set.size(); ++column) {
        std::uint32_t all = ~std::uint32_t{0};
        for (const std::uint32_t* child : children) all &= child[column];
        if (all != 0) {
            set[column] = all;
            continue;
        }
        std::array<int, kMaxStates> votes{};
        int max = 0;
        for (const std::uint32_t* child : children)
            for (int state = 0; state < states; ++state)
                max = std::max(
                    max, votes[static_cast<std::size_t>(state)] += child[column] >> state & 1);
        std::uint32_t best = 0;
        for (int state = 0; state < states; ++state)
            if (votes[static_cast<std::size_t>(state)] == max) best |= std::uint32_t{1} << state;
        set[column] = best;
        scores[column] += static_cast<Index>(children.size()) - max;
    }
}

}  // namespace

std::span<const std::string_view> names_of(TreeNullKind) {
    static constexpr std::string_view names[] = {"markov", "branch"};
    return names;
}

TreeNull::TreeNull(Tree tree, View<const std::uint8_t, 2> letters, int states)
    : tree_(std::move(tree)),
      rows_(letters.extent(0)),
      columns_(letters.extent(1)),
      states_(states),
      letters_(rows_, columns_),
      sets_(tree_.node_count(), columns_),
      scores_(static_cast<std::size_t>(columns_)) {
    std::copy(letters.begin(), letters.end(), letters_.begin());
    const Index nodes = tree_.node_count();
    std::vector<std::vector<const std::uint32_t*>> children(static_cast<std::size_t>(nodes));
    const std::uint32_t every = states == 32 ? ~0u : (std::uint32_t{1} << states) - 1;
    for (Index node = nodes; node-- > 0;) {
        const auto at = static_cast<std::size_t>(node);
        if (tree_.is_leaf(node)) {
            for (Index column = 0; column < columns_; ++column) {
                const std::uint8_t letter = letters_(tree_.row[at], column);
                sets_(node, column) = letter < states ? std::uint32_t{1} << letter : every;
            }
        } else {
            join_sets(children[at], states, {&sets_(node, 0), static_cast<std::size_t>(columns_)},
                      scores_);
        }
        if (node > 0)
            children[static_cast<std::size_t>(tree_.parent[at])].push_back(&sets_(node, 0));
    }
}

void TreeNull::reconstruct(std::uint64_t seed, std::uint32_t null, TreeDraw& draw) const {
    for (Index node = 0; node < tree_.node_count(); ++node) {
        Words words(seed, null, node, kState);
        const Index parent = tree_.parent[static_cast<std::size_t>(node)];
        for (Index column = 0; column < columns_; ++column) {
            const std::uint32_t set = sets_(node, column);
            std::uint8_t& state = draw.reconstructed(node, column);
            if (parent >= 0) {
                state = draw.reconstructed(parent, column);
                if (set >> state & 1) continue;
            }
            const int count = std::popcount(set);
            state =
                state_at(set, count > 1 ? words.below(column, static_cast<std::size_t>(count)) : 0);
        }
    }
}

void TreeNull::count_changes(TreeDraw& draw) const {
    const auto q = static_cast<std::size_t>(states_), columns = static_cast<std::size_t>(columns_);
    draw.changes.assign(columns * q * q, 0);
    draw.changes_from.assign(columns * q, 0);
    draw.visits.assign(columns * q, 0);
    draw.branch_changes.assign(static_cast<std::size_t>(tree_.node_count()), 0);
    for (Index node = 1; node < tree_.node_count(); ++node) {
        const auto at = static_cast<std::size_t>(node);
        const std::uint8_t* from = &draw.reconstructed(tree_.parent[at], 0);
        const std::uint8_t* to = &draw.reconstructed(node, 0);
        for (std::size_t column = 0; column < columns; ++column) {
            if (from[column] == to[column]) continue;
            ++draw.branch_changes[at];
            ++draw.changes_from[column * q + from[column]];
            ++draw.changes[(column * q + from[column]) * q + to[column]];
        }
        if (draw.branch_changes[at] == 0) continue;
        for (std::size_t column = 0; column < columns; ++column)
            draw.visits[column * q + from[column]] += draw.branch_changes[at];
    }
}

void TreeNull::evolve_markov(std::uint64_t seed, std::uint32_t null, TreeDraw& draw) const {
    const auto q = static_cast<std::size_t>(states_), columns = static_cast<std::size_t>(columns_);
    for (Index node = 1; node < tree_.node_count(); ++node) {
        const auto at = static_cast<std::size_t>(node);
        const std::uint8_t* from = &draw.evolved(tree_.parent[at], 0);
        std::uint8_t* to = &draw.evolved(node, 0);
        std::copy_n(from, columns, to);
        const std::uint64_t on_branch = draw.branch_changes[at];
        if (on_branch == 0) continue;
        Words words(seed, null, node, kChange), targets(seed, null, node, kTarget);
        for (std::size_t column = 0; column < columns; ++column) {
            const std::size_t cell = column * q + from[column];
            const std::uint64_t out = draw.changes_from[cell];
            if (out == 0) continue;
            // word / 2^32 < on_branch * out / visits, in integers.
            const std::uint64_t wanted = on_branch * out, visits = draw.visits[cell];
            const auto index = static_cast<Index>(column);
            if (wanted < visits && words(index) * visits >= wanted << 32) continue;
            std::uint32_t number = targets.below(index, out);
            std::uint8_t state = 0;
            for (const std::uint32_t* kind = &draw.changes[cell * q]; number >= kind[state];
                 ++state)
                number -= kind[state];
            to[column] = state;
        }
    }
}

void TreeNull::evolve_branch(std::uint64_t seed, std::uint32_t null, TreeDraw& draw) const {
    const auto q = static_cast<std::size_t>(states_), columns = static_cast<std::size_t>(columns_);
    std::uint8_t* root = &draw.evolved(0, 0);
    Words order(seed, null, 0, kRoot);
    for (std::size_t last = columns; last-- > 1;)
        std::swap(root[last], root[order.below(static_cast<Index>(last), last + 1)]);
    std::vector<std::uint32_t> kinds(q * q), free;
    for (Index node = 1; node < tree_.node_count(); ++node) {
        const auto at = static_cast<std::size_t>(node);
        const Index parent = tree_.parent[at];
        const std::uint8_t* from = &draw.evolved(parent, 0);
        std::uint8_t* to = &draw.evolved(node, 0);
        std::copy_n(from, columns, to);
        if (draw.branch_changes[at] == 0) continue;
        std::fill(kinds.begin(), kinds.end(), 0);
        for (Index column = 0; column < columns_; ++column) {
            const std::size_t a = draw.reconstructed(parent, column);
            const std::size_t b = draw.reconstructed(node, column);
            if (a != b) ++kinds[a * q + b];
        }
        Words words(seed, null, node, kColumn);
        Index drawn = 0;
        for (std::size_t a = 0; a < q; ++a) {
            if (std::accumulate(&kinds[a * q], &kinds[a * q] + q, 0u) == 0) continue;
            free.clear();
            for (std::size_t column = 0; column < columns; ++column)
                if (from[column] == a) free.push_back(static_cast<std::uint32_t>(column));
            for (std::size_t b = 0; b < q; ++b) {
                for (; kinds[a * q + b] > 0 && !free.empty(); --kinds[a * q + b]) {
                    std::uint32_t& chosen = free[words.below(drawn++, free.size())];
                    to[chosen] = static_cast<std::uint8_t>(b);
                    chosen = free.back();
                    free.pop_back();
                }
                draw.dropped += kinds[a * q + b];
            }
        }
    }
}

void TreeNull::draw(TreeNullKind kind, std::uint64_t seed, Index null, TreeDraw& draw) const {
    const Index nodes = tree_.node_count();
    if (draw.letters.extent(0) != columns_ || draw.letters.extent(1) != rows_ ||
        draw.evolved.extent(0) != nodes) {
        draw.reconstructed = Array<std::uint8_t, 2>(nodes, columns_);
        draw.evolved = Array<std::uint8_t, 2>(nodes, columns_);
        draw.letters = Array<std::uint8_t, 2>(columns_, rows_);
    }
    draw.dropped = 0;
    const auto number = static_cast<std::uint32_t>(null);
    reconstruct(seed, number, draw);
    count_changes(draw);
    std::copy_n(&draw.reconstructed(0, 0), columns_, &draw.evolved(0, 0));
    if (kind == TreeNullKind::markov)
        evolve_markov(seed, number, draw);
    else
        evolve_branch(seed, number, draw);
    for (Index node = 0; node < nodes; ++node) {
        const Index row = tree_.row[static_cast<std::size_t>(node)];
        if (row < 0) continue;
        for (Index column = 0; column < columns_; ++column)
            draw.letters(column, row) = letters_(row, column) < states_
                                            ? draw.evolved(node, column)
                                            : static_cast<std::uint8_t>(states_);
    }
}

std::vector<double> position_weights(View<const std::uint8_t, 2> letters, int states) {
    const Index rows = letters.extent(0), columns = letters.extent(1);
    std::vector<double> weights(static_cast<std::size_t>(rows));
    std::vector<Index> residues(weights.size());
    for (Index column = 0; column < columns; ++column) {
        std::array<Index, kMaxStates> count{};
        for (Index row = 0; row < rows; ++row)
            if (letters(row, column) < states) ++count[letters(row, column)];
        const auto distinct = static_cast<double>(
            std::count_if(count.begin(), count.end(), [](Index n) { return n > 0; }));
        for (Index row = 0; row < rows; ++row) {
            const std::uint8_t letter = letters(row, column);
            if (letter >= states) continue;
            ++residues[static_cast<std::size_t>(row)];
            weights[static_cast<std::size_t>(row)] +=
                1 / (distinct * static_cast<double>(count[letter]));
        }
    }
    double sum = 0;
    for (std::size_t row = 0; row < weights.size(); ++row)
        sum += weights[row] /= std::max<double>(1, static_cast<double>(residues[row]));
    for (double& weight : weights) weight *= static_cast<double>(rows) / sum;
    return weights;
}

}  // namespace pleat::phylogeny
