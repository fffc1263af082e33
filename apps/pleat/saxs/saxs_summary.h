// SAXS summary: the lines that pleat saxs prints at its end.
#pragma once

#include <string>
#include <vector>

#include "pleat/saxs/saxs.h"

namespace pleat::program {

struct SaxsRun {
    std::vector<std::string> sources;
    std::string data, folder;
};

std::string saxs_summary(const SaxsRun& run, const saxs::Result& result);

}  // namespace pleat::program
