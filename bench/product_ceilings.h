// What products of tiles can reach: float32 multiply-adds and float16 products of one GPU.
#pragma once

namespace pleat::bench {

/// Multiply-adds a second of float32 by fused multiply-adds, or with `halves` of float16 by mma
/// with float32 sums: the median of five. std::runtime_error where the GPU fails.
double multiply_adds_a_second(bool halves);

}  // namespace pleat::bench
