// Values: the one or many numbers that an option such as 1:4:0.5 stands for.
#pragma once

#include <string_view>
#include <vector>

namespace pleat::cluster {

/// "2.5", or "1:4:0.5" (1, 1.5, ..., 4). Above 0. UsageError naming `option`.
std::vector<double> parse_cutoffs(std::string_view text, std::string_view option);
/// "5", "2:10" or "2:20:2". At least 1. UsageError naming `option`.
std::vector<double> parse_counts(std::string_view text, std::string_view option);

}  // namespace pleat::cluster
