// Parallel sort: each thread sorts one section; then sections are merged in pairs.
#pragma once

#include <algorithm>
#include <vector>

#include "pleat/core/loops/parallel.h"

namespace pleat {

/// Sorts by `before`, a strict order in which no two values are equal, so that the result is the
/// same for any number of threads. Needs additional memory of the size of `values`.
template <class T, class Before>
void parallel_sort(std::vector<T>& values, int threads, Before before) {
    const auto count = static_cast<Index>(values.size());
    Index parts = 1;
    while (parts < threads) parts *= 2;
    const auto edge = [&](Index part) { return part * count / parts; };
    parallel_for(threads, parts, [&](Index part, int) {
        std::sort(values.begin() + edge(part), values.begin() + edge(part + 1), before);
    });
    std::vector<T> merged(parts > 1 ? values.size() : 0);
    for (Index step = 1; step < parts; step *= 2) {
        parallel_for(threads, parts / (2 * step), [&](Index pair, int) {
            const auto at = [&](Index k) { return values.begin() + edge((2 * pair + k) * step); };
            std::merge(at(0), at(1), at(1), at(2), merged.begin() + edge(2 * pair * step), before);
        });
        values.swap(merged);
    }
}

}  // namespace pleat
