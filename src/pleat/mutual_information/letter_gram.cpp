// Letter Gram: products of ratios, each at most 1, so that no order overflows.
#include "pleat/mutual_information/letter_gram.h"

#include <algorithm>
#include <cmath>

namespace pleat::mutual_information {

LetterGram::LetterGram(std::span<const Index> margin, Index rows, int orders)
    : letters_(static_cast<Index>(margin.size())),
      largest_(std::max_element(margin.begin(), margin.end()) - margin.begin()),
      dyad_(orders * margin.size()),
      with_largest_(orders * margin.size()) {
    const Index most = margin[largest_];
    for (Index a = 0; a < letters_; ++a) {
        if (a == largest_) continue;
        const Index r = margin[a];
        double own = 1, both = 1;
        // Letters other than the largest have at most N/2 rows, and r + most <= N.
        for (Index m = 0; m < orders && m < r && m < rows - most; ++m) {
            own *= static_cast<double>(r - m) / static_cast<double>(rows - r - m);
            both *= (static_cast<double>(r - m) / static_cast<double>(rows - most - m)) *
                    (static_cast<double>(most - m) / static_cast<double>(rows - r - m));
            dyad_[m * letters_ + a] = std::sqrt(own);
            with_largest_[m * letters_ + a] = std::sqrt(both);
        }
    }
}

void LetterGram::apply(int m, double* f, Index stride) const {
    const double sign = m % 2 == 0 ? 1 : -1;
    const double* dyad = dyad_.data() + (m - 1) * letters_;
    const double* with_largest = with_largest_.data() + (m - 1) * letters_;
    const double largest = f[largest_ * stride];
    double sum = 0, to_largest = 0;
    for (Index a = 0; a < letters_; ++a) {  // both tables are 0 for the largest letter
        sum += dyad[a] * f[a * stride];
        to_largest += with_largest[a] * f[a * stride];
    }
    for (Index a = 0; a < letters_; ++a) {
        double& value = f[a * stride];
        value += sign * (dyad[a] * (sum - dyad[a] * value) + with_largest[a] * largest);
    }
    f[largest_ * stride] = largest + sign * to_largest;
}

}  // namespace pleat::mutual_information
