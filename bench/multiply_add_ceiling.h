// Multiply-adds: how many of float32 one GPU does in a second.
#pragma once

namespace pleat::bench {

/// The median of five; std::runtime_error where the GPU fails.
double float_multiply_adds_a_second();

}  // namespace pleat::bench
