// Letter Gram: products of ratios, each at most 1, so that no order overflows.
#include "pleat/mutual_information/exact/letter_gram.h"

#include <algorithm>
#include <cmath>

#include "pleat/mutual_information/exact/vector_loops.h"

namespace pleat::mutual_information {

LetterGram::LetterGram(std::span<const Index> margin, Index rows, int orders)
    : letters_(static_cast<Index>(margin.size())),
      largest_(std::max_element(margin.begin(), margin.end()) - margin.begin()),
      dyad_(orders * margin.size()),
      with_largest_(orders * margin.size()) {
    const Index max_rows = margin[largest_];
    for (Index a = 0; a < letters_; ++a) {
        if (a == largest_) continue;
        const Index r = margin[a];
        double own = 1, both = 1;
        // Letters other than the largest have at most N/2 rows, and r + max_rows <= N.
        for (Index m = 0; m < orders && m < r && m < rows - max_rows; ++m) {
            own *= static_cast<double>(r - m) / static_cast<double>(rows - r - m);
            both *= (static_cast<double>(r - m) / static_cast<double>(rows - max_rows - m)) *
                    (static_cast<double>(max_rows - m) / static_cast<double>(rows - r - m));
            dyad_[m * letters_ + a] = std::sqrt(own);
            with_largest_[m * letters_ + a] = std::sqrt(both);
        }
    }
}

void LetterGram::apply_to(int m, double* f, Index stride, Index width) const {
    const Index first = (m - 1) * letters_;
    loops::apply_gram({letters_, largest_, m % 2 == 0 ? 1.0 : -1.0, dyad_.data() + first,
                       with_largest_.data() + first},
                      f, stride, width);
}

}  // namespace pleat::mutual_information
