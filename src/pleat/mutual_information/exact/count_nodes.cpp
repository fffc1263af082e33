// Count nodes: panels that double in width, and Lagrange weights in each.
#include "pleat/mutual_information/exact/count_nodes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

namespace pleat::mutual_information {

namespace {

constexpr Index kEnds = 32;
constexpr Index kPanel = 20;

std::vector<Index> panel_nodes(Index first, Index last, bool all) {
    std::vector<Index> nodes;
    if (all || last - first < kPanel) {
        for (Index count = first; count <= last; ++count) nodes.push_back(count);
        return nodes;
    }
    // Zeros of the polynomial, stretched so that the outermost are the panel's ends.
    const double widest = std::cos(std::numbers::pi / (2 * kPanel));
    for (Index node = 0; node < kPanel; ++node) {
        const double angle = std::numbers::pi * (static_cast<double>(node) + 0.5) / kPanel;
        const double position = 0.5 - 0.5 * std::cos(angle) / widest;
        const Index nearest = first + std::llround(position * static_cast<double>(last - first));
        nodes.push_back(nodes.empty() ? first : std::max(nearest, nodes.back() + 1));
    }
    for (Index back = 0; back < kPanel; ++back)
        nodes[kPanel - 1 - back] = std::min(nodes[kPanel - 1 - back], last - back);
    return nodes;
}

}  // namespace

Index CountNodes::max_size(Index rows) {
    const auto panels = std::bit_width(static_cast<std::uint64_t>(rows / kEnds));
    return std::min<Index>(rows + 1, 2 * kEnds + kPanel * panels);
}

std::int64_t CountNodes::bytes(Index rows) {
    return 8 * (max_size(rows) + (kPanel + 2) * (rows + 2));
}

CountNodes::CountNodes(Index rows) {
    first_.reserve(rows + 1);
    begin_.reserve(rows + 2);
    weights_.reserve(kPanel * (rows + 1));
    Index first = 0;
    while (first <= rows) {
        const Index upper = rows - kEnds + 1;  // the first of the highest counts
        if (first == 0) {
            add_panel(0, std::min(kEnds - 1, rows), true);
            first = kEnds;
        } else if (first >= upper) {
            add_panel(first, rows, true);
            break;
        } else {
            const Index last = std::min(2 * first - 1, upper - 1);
            add_panel(first, last, false);
            first = last + 1;
        }
    }
    begin_.push_back(static_cast<Index>(weights_.size()));
}

void CountNodes::add_panel(Index first, Index last, bool all) {
    const auto nodes = panel_nodes(first, last, all);
    for (Index count = first; count <= last; ++count) {
        const auto found = std::lower_bound(nodes.begin(), nodes.end(), count);
        const bool is_node = found != nodes.end() && *found == count;
        begin_.push_back(static_cast<Index>(weights_.size()));
        first_.push_back(size() + (is_node ? found - nodes.begin() : 0));
        if (is_node) {
            weights_.push_back(1);
            continue;
        }
        for (const Index node : nodes) {
            double weight = 1;
            for (const Index other : nodes)
                if (other != node)
                    weight *=
                        static_cast<double>(count - other) / static_cast<double>(node - other);
            weights_.push_back(weight);
        }
    }
    counts_.insert(counts_.end(), nodes.begin(), nodes.end());
}

CountNodes::Weights CountNodes::weights(Index count) const {
    return {first_[count],
            {weights_.data() + begin_[count],
             static_cast<std::size_t>(begin_[count + 1] - begin_[count])}};
}

}  // namespace pleat::mutual_information
