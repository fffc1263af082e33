// Start: counts letters and turns them into fields.
#include "pleat/couplings/fit/start.h"

#include <algorithm>
#include <cmath>

#include "pleat/core/loops/parallel.h"

namespace pleat::couplings {

namespace {

// How often each letter stands in each column; whole numbers, so that the order of sums is free.
Array<double, 2> letter_counts(const Alignment& alignment, int threads) {
    constexpr Index kSequencesPerPart = 1024;
    const Index columns = alignment.column_count(), count = alignment.sequence_count();
    Array<double, 3> counts(threads, columns, alignment.alphabet->size());
    parallel_for(threads, (count + kSequencesPerPart - 1) / kSequencesPerPart,
                 [&](Index part, int thread) {
                     const Index first = part * kSequencesPerPart;
                     const View<double, 2> own = counts[thread];
                     for (Index n = first; n < std::min(first + kSequencesPerPart, count); ++n)
                         for (Index i = 0; i < columns; ++i) own(i, alignment.letters(n, i)) += 1;
                 });
    Array<double, 2> total(columns, alignment.alphabet->size());
    for (Index thread = 0; thread < threads; ++thread)
        for (Index k = 0; k < total.size(); ++k) total.data()[k] += counts[thread].data[k];
    return total;
}

}  // namespace

Array<float, 2> independent_fields(const Alignment& alignment, int threads) {
    const Index columns = alignment.column_count();
    const int letters = alignment.alphabet->size();
    Array<float, 2> fields(columns, letters);
    const Array<double, 2> counts = letter_counts(alignment, threads);
    for (Index i = 0; i < columns; ++i) {
        for (int a = 0; a < letters - 1; ++a) {
            fields(i, a) =
                static_cast<float>(std::log((counts(i, a) + 1) / (counts(i, letters - 1) + 1)));
        }
    }
    return fields;
}

}  // namespace pleat::couplings
