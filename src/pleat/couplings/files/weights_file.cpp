// Weights file: reading text and NPY, and checking the numbers.
#include "pleat/couplings/files/weights_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "pleat/bio/input/byte_source.h"
#include "pleat/bio/input/text_fields.h"
#include "pleat/core/error.h"
#include "pleat/core/files/npy.h"

namespace pleat::couplings {

namespace {

/// The numbers of a text, with their lines.
std::vector<std::pair<double, Index>> read_text(const std::filesystem::path& path) {
    ByteSource source(path);
    std::string_view line;
    std::vector<std::pair<double, Index>> weights;
    bool has_header = false;
    while (source.next(line)) {
        const std::vector<std::string_view> found = words(line, " \t,;");
        if (found.empty() || found.front().front() == '#') continue;
        double weight = 0;
        if (parse_number(found.back(), weight))
            weights.emplace_back(weight, source.line());
        else if (has_header || !weights.empty())
            throw InputError(source.name(), source.line(),
                             fmt::format("expected a weight, found {}", in_quotes(line)));
        else
            has_header = true;
    }
    return weights;
}

}  // namespace

std::vector<double> read_weights(const std::filesystem::path& path, Index count) {
    std::vector<std::pair<double, Index>> found;
    const bool is_npy = ByteReader(path).peek(6) == "\x93NUMPY";
    if (is_npy)
        for (const double weight : read_npy(path).as<double>("the weights"))
            found.emplace_back(weight, 0);
    else
        found = read_text(path);
    if (std::ssize(found) != count)
        throw InputError(path.string(), 0,
                         fmt::format("expected weights of the {} sequences that are fitted, found "
                                     "{}",
                                     count, found.size()));
    std::vector<double> weights;
    for (const auto& [weight, line] : found) {
        if (!std::isfinite(weight) || weight < 0)
            throw InputError(path.string(), line,
                             fmt::format("expected weights of 0 or more, found {}", weight));
        weights.push_back(weight);
    }
    if (*std::max_element(weights.begin(), weights.end()) <= 0)
        throw InputError(path.string(), 0, "expected weights above 0, found none");
    return weights;
}

}  // namespace pleat::couplings
