// What products of tiles can reach: multiply-adds of one GPU by precision.
#pragma once

namespace pleat::bench {

enum class Product {
    float32,         ///< fused multiply-adds
    float64,         ///< fused multiply-adds
    float16_tensor,  ///< mma with float32 sums
    float64_tensor   ///< mma
};

/// Multiply-adds a second: the median of five. std::runtime_error where the GPU fails.
double multiply_adds_a_second(Product product);

}  // namespace pleat::bench
