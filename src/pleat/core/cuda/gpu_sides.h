// Sides of a grid of CTAs, or of a CTA of threads.
#pragma once

#include "pleat/core/view.h"

namespace pleat::cuda {

struct Sides {
    Index x = 1, y = 1, z = 1;
};

}  // namespace pleat::cuda
