// Runs: sorts scatterers, and cuts runs into pieces.
#include "pleat/saxs/debye/runs.h"

#include <algorithm>
#include <numeric>

namespace pleat::saxs {

Runs sort_by_body(const Model& model, std::span<const std::int32_t> bodies, Index body_count) {
    Runs result;
    result.order.resize(model.types.size());
    std::iota(result.order.begin(), result.order.end(), Index{0});
    const auto key = [&](Index i) {
        const auto n = static_cast<std::size_t>(i);
        return std::pair(bodies[n], model.types[n]);
    };
    std::stable_sort(result.order.begin(), result.order.end(),
                     [&](Index i, Index j) { return key(i) < key(j); });
    result.first_run.assign(static_cast<std::size_t>(body_count) + 1, 0);
    for (Index slot = 0; slot < model.scatterer_count(); ++slot) {
        const Index scatterer = result.order[static_cast<std::size_t>(slot)];
        const bool joins =
            slot > 0 && key(scatterer) == key(result.order[static_cast<std::size_t>(slot - 1)]);
        if (!joins) {
            result.runs.push_back({key(scatterer).second, slot, 0});
            ++result.first_run[static_cast<std::size_t>(key(scatterer).first) + 1];
        }
        ++result.runs.back().count;
    }
    std::partial_sum(result.first_run.begin(), result.first_run.end(), result.first_run.begin());
    return result;
}

Runs sort_by_type(const Model& model) {
    return sort_by_body(model, std::vector<std::int32_t>(model.types.size(), 0), 1);
}

std::vector<Run> split(const std::vector<Run>& runs, Index rows) {
    std::vector<Run> pieces;
    for (const Run& run : runs) {
        const Index count = (run.count + rows - 1) / rows, size = (run.count + count - 1) / count;
        for (Index first = 0; first < run.count; first += size)
            pieces.push_back({run.type, run.first + first, std::min(size, run.count - first)});
    }
    return pieces;
}

}  // namespace pleat::saxs
