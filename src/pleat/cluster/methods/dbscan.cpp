// DBSCAN: flooding from core to core, a batch of rows at a time.
#include "pleat/cluster/methods/dbscan.h"

#include <algorithm>
#include <bit>

#include "pleat/core/loops/steps.h"

namespace pleat::cluster {

Clustering dbscan(const Neighbours& neighbours, std::int64_t min_neighbours,
                  const Context& context) {
    const Index count = neighbours.count();
    const std::vector<std::int32_t>& degrees = neighbours.degrees();
    Clustering result;
    result.assignment.assign(static_cast<std::size_t>(count), kNoise);
    std::vector<std::uint64_t> left(static_cast<std::size_t>(neighbours.words()),
                                    ~std::uint64_t{0});
    std::int32_t next = 0;
    StageProgress progress(context, "cluster", count);
    std::vector<Index> wave, following;
    const auto reach = [&](Index item) {
        result.assignment[item] = next;
        left[item / 64] &= ~(std::uint64_t{1} << item % 64);
        if (degrees[item] >= min_neighbours) following.push_back(item);
    };
    for (Index seed = 0; seed < count; ++seed) {
        if (result.assignment[seed] != kNoise || degrees[seed] < min_neighbours) continue;
        reach(seed);
        while (!following.empty()) {
            wave.swap(following);
            following.clear();
            neighbours.visit_rows(wave, [&](Index, const std::uint64_t* bits) {
                for (std::size_t word = 0; word < left.size(); ++word)
                    for (std::uint64_t more = bits[word] & left[word]; more != 0; more &= more - 1)
                        reach(static_cast<Index>(64 * word) + std::countr_zero(more));
            });
            progress.check();
        }
        ++next;
        progress.advance_to(seed + 1);
    }
    progress.advance_to(count);
    number_by_size(result);
    return result;
}

}  // namespace pleat::cluster
