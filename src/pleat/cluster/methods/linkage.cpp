// Linkage: Prim's tree and nearest-neighbour chains on a condensed matrix, labels, cuts, Newick.
#include "pleat/cluster/methods/methods.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "pleat/core/files/output_file.h"
#include "pleat/core/loops/steps.h"

namespace pleat::cluster {

namespace {

/// Merges the two clusters that contain these two items.
struct Joint {
    Index a, b;
    double height;
};

std::vector<Joint> single_joints(Index count, const StoredPairs& distances,
                                 StageProgress& progress) {
    std::vector<float> nearest(static_cast<std::size_t>(count),
                               std::numeric_limits<float>::infinity());
    std::vector<Index> from(static_cast<std::size_t>(count), 0);
    std::vector<bool> reached(static_cast<std::size_t>(count), false);
    std::vector<float> row(static_cast<std::size_t>(count));
    std::vector<Joint> joints;
    Index last = 0;
    for (Index done = 0; done + 1 < count; ++done) {
        if (done % 64 == 0) progress.advance_to(done);
        reached[last] = true;
        distances.rows({&last, 1}, row.data());
        Index next = -1;
        for (Index i = 0; i < count; ++i) {
            if (reached[i]) continue;
            if (row[i] < nearest[i]) {
                nearest[i] = row[i];
                from[i] = last;
            }
            if (next < 0 || nearest[i] < nearest[next]) next = i;
        }
        joints.push_back({from[next], next, nearest[next]});
        last = next;
    }
    return joints;
}

/// Nearest-neighbour chains: each item is the nearest neighbour of the one before it. The last two
/// are nearest to each other and can be merged, whatever the order of merges.
class NearestChains {
public:
    NearestChains(Method method, Index count, std::vector<float>& pairs)
        : method_(method), count_(count), pairs_(pairs), active_(static_cast<std::size_t>(count)) {
        std::iota(active_.begin(), active_.end(), Index{0});
        sizes_.assign(static_cast<std::size_t>(count), 1);
    }

    std::vector<Joint> run(StageProgress& progress) {
        std::vector<Joint> joints;
        std::vector<Index> chain;
        for (Index done = 0; done + 1 < count_; ++done) {
            if (done % 64 == 0) progress.advance_to(done);
            if (chain.empty()) chain.push_back(active_.front());
            while (true) {
                const Index x = chain.back(),
                            previous = chain.size() > 1 ? chain[chain.size() - 2] : -1;
                const Index y = nearest_to(x, previous);
                if (y == previous) break;
                chain.push_back(y);
            }
            const Index x = chain.back(), y = chain[chain.size() - 2];
            chain.resize(chain.size() - 2);
            joints.push_back({x, y, pair(x, y)});
            merge(std::min(x, y), std::max(x, y));
        }
        return joints;
    }

private:
    float& pair(Index i, Index j) {
        if (i > j) std::swap(i, j);
        return pairs_[pairs_before(i, count_) + j - i - 1];
    }

    /// Among equally near clusters returns the previous one in the chain if possible, else the one
    /// with the lowest index.
    Index nearest_to(Index x, Index previous) {
        Index best = previous;
        float min = previous < 0 ? std::numeric_limits<float>::infinity() : pair(x, previous);
        for (const Index i : active_) {
            if (i == x) continue;
            const float distance = pair(x, i);
            if (distance < min || best < 0) {
                min = distance;
                best = i;
            }
        }
        return best;
    }

    double updated(double ax, double ay, double xy, double nx, double ny, double n) const {
        if (method_ == Method::complete) return std::max(ax, ay);
        if (method_ == Method::average) return (nx * ax + ny * ay) / (nx + ny);
        const double square =
            ((n + nx) * ax * ax + (n + ny) * ay * ay - n * xy * xy) / (n + nx + ny);
        return std::sqrt(std::max(square, 0.0));
    }

    /// Cluster y becomes the merged cluster.
    void merge(Index x, Index y) {
        const double between = pair(x, y);
        active_.erase(std::lower_bound(active_.begin(), active_.end(), x));
        for (const Index i : active_) {
            if (i == y) continue;
            float& to_y = pair(i, y);
            to_y = static_cast<float>(
                updated(pair(i, x), to_y, between, sizes_[x], sizes_[y], sizes_[i]));
        }
        sizes_[y] += sizes_[x];
    }

    Method method_;
    Index count_;
    std::vector<float>& pairs_;
    std::vector<Index> active_;  // ascending
    std::vector<double> sizes_;
};

std::vector<Merge> labelled(std::vector<Joint> joints, Index count) {
    std::stable_sort(joints.begin(), joints.end(),
                     [](const Joint& a, const Joint& b) { return a.height < b.height; });
    ItemSets nodes(2 * count - 1);
    std::vector<std::int32_t> sizes(static_cast<std::size_t>(2 * count - 1), 1);
    std::vector<Merge> tree;
    for (const Joint& joint : joints) {
        const Index node = count + static_cast<Index>(tree.size());
        const auto [first, second] = std::minmax({nodes.root(joint.a), nodes.root(joint.b)});
        sizes[node] = sizes[first] + sizes[second];
        tree.push_back({static_cast<std::int32_t>(first), static_cast<std::int32_t>(second),
                        joint.height, sizes[node]});
        nodes.join(first, node);
        nodes.join(second, node);
    }
    return tree;
}

Clustering after_merges(const std::vector<Merge>& tree, Index count, Index merges) {
    ItemSets nodes(2 * count - 1);
    for (Index n = 0; n < merges; ++n) {
        nodes.join(tree[n].first, count + n);
        nodes.join(tree[n].second, count + n);
    }
    return nodes.clusters(count);
}

}  // namespace

ItemSets::ItemSets(Index nodes) : parents_(static_cast<std::size_t>(nodes)) {
    std::iota(parents_.begin(), parents_.end(), Index{0});
}

Index ItemSets::root(Index node) {
    while (parents_[node] != node) node = parents_[node] = parents_[parents_[node]];
    return node;
}

Clustering ItemSets::clusters(Index count) {
    Clustering result;
    std::vector<std::int32_t> numbers(parents_.size(), kNoise);
    std::int32_t next = 0;
    for (Index i = 0; i < count; ++i) {
        std::int32_t& number = numbers[root(i)];
        if (number == kNoise) number = next++;
        result.assignment.push_back(number);
    }
    number_by_size(result);
    return result;
}

std::vector<Merge> link(Method method, Index count, std::vector<float> condensed,
                        const Context& context) {
    StageProgress progress(context, "link", count - 1);
    std::vector<Joint> joints;
    if (method == Method::single)
        joints = single_joints(count, StoredPairs(count, std::move(condensed)), progress);
    else
        joints = NearestChains(method, count, condensed).run(progress);
    progress.advance_to(count - 1);
    return labelled(std::move(joints), count);
}

Clustering cut_into_clusters(const std::vector<Merge>& tree, Index count, Index clusters) {
    return after_merges(tree, count, count - clusters);
}

Clustering cut_below_height(const std::vector<Merge>& tree, Index count, double cutoff) {
    const auto limit = static_cast<float>(cutoff);
    const auto end = std::partition_point(tree.begin(), tree.end(), [&](const Merge& merge) {
        return static_cast<float>(merge.height) < limit;
    });
    return after_merges(tree, count, end - tree.begin());
}

void write_newick(const std::filesystem::path& path, const std::vector<Merge>& tree, Index count) {
    OutputFile file(path);
    const auto height = [&](Index node) { return node < count ? 0.0 : tree[node - count].height; };
    struct Visit {
        Index node, parent;
        int stage;
    };
    std::vector<Visit> stack = {{count + static_cast<Index>(tree.size()) - 1, -1, 0}};
    // Not recursive: a degenerate tree would overflow the call stack.
    while (!stack.empty()) {
        Visit& visit = stack.back();
        const Index node = visit.node, parent = visit.parent;
        if (node < count) {
            file.write(fmt::format("{}", node));
        } else if (visit.stage < 2) {
            const Merge& merge = tree[node - count];
            file.write(visit.stage == 0 ? "(" : ",");
            const Index child = visit.stage++ == 0 ? merge.first : merge.second;
            stack.push_back({child, node, 0});
            continue;
        } else {
            file.write(")");
        }
        if (parent >= 0) file.write(fmt::format(":{:.6g}", (height(parent) - height(node)) / 2));
        stack.pop_back();
    }
    file.write(";\n");
    file.close();
}

}  // namespace pleat::cluster
