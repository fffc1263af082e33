// Weights file: reading text and NPY, and checking the numbers.
#include "pleat/couplings/files/weights_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pleat/bio/input/byte_source.h"
#include "pleat/core/error.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/files/text.h"

namespace pleat::couplings {

std::vector<double> read_weights(const std::filesystem::path& path, Index count) {
    std::vector<double> weights;
    const auto add = [&](double weight, Index line) {
        if (!std::isfinite(weight) || weight < 0)
            throw InputError(path.string(), line,
                             fmt::format("expected weights of 0 or more, found {}", weight));
        weights.push_back(weight);
    };
    if (ByteReader(path).peek(6) == "\x93NUMPY") {
        for (const double weight : read_npy(path).as<double>("the weights")) add(weight, 0);
    } else {
        ByteSource source(path);
        std::string_view line;
        bool has_header = false;
        while (source.next(line)) {
            const std::vector<std::string_view> found = words(line, " \t,;");
            if (found.empty() || found.front().front() == '#') continue;
            double weight = 0;
            if (parse_number(found.back(), weight))
                add(weight, source.line());
            else if (has_header || !weights.empty())
                throw InputError(source.name(), source.line(),
                                 fmt::format("expected a weight, found {}", in_quotes(line)));
            else
                has_header = true;
        }
    }
    if (std::ssize(weights) != count)
        throw InputError(
            path.string(), 0,
            fmt::format("expected weights of the {} sequences that are fitted, found {}", count,
                        weights.size()));
    if (*std::max_element(weights.begin(), weights.end()) <= 0)
        throw InputError(path.string(), 0, "expected weights above 0, found none");
    return weights;
}

}  // namespace pleat::couplings
