// Initial fields: counts the letters of each column.
#include "pleat/couplings/fit/initial_fields.h"

#include <cmath>
#include <vector>

#include "pleat/core/loops/parallel.h"

namespace pleat::couplings {

Array<float, 2> independent_fields(const Alignment& alignment, int threads) {
    const Index columns = alignment.column_count(), sequences = alignment.sequence_count();
    const int letters = alignment.alphabet->size();
    Array<float, 2> fields(columns, letters);
    constexpr Index kBlock = 64;  // columns that a thread counts at a time, row by row
    parallel_for(threads, (columns + kBlock - 1) / kBlock, [&](Index block, int) {
        const Index first = block * kBlock, last = std::min(first + kBlock, columns);
        std::vector<double> counts(static_cast<std::size_t>((last - first) * letters), 1.0);
        for (Index n = 0; n < sequences; ++n)
            for (Index i = first; i < last; ++i)
                counts[static_cast<std::size_t>((i - first) * letters) + alignment.letters(n, i)] +=
                    1;
        for (Index i = first; i < last; ++i) {
            const double* of_column = counts.data() + (i - first) * letters;
            for (int a = 0; a < letters - 1; ++a)
                fields(i, a) = static_cast<float>(std::log(of_column[a] / of_column[letters - 1]));
        }
    });
    return fields;
}

}  // namespace pleat::couplings
