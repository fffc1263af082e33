// Lanes on the host: the 32 of a warp as threads that exchange values, for tests without a GPU.
#pragma once

#include <barrier>
#include <functional>
#include <thread>
#include <vector>

namespace pleat::saxs::test {

class Lanes {
public:
    static constexpr int kCount = 32;
    /// body(lane) on all lanes at once.
    void run(const std::function<void(int)>& body) {
        std::vector<std::jthread> threads;
        for (int lane = 0; lane < kCount; ++lane)
            threads.emplace_back([&body, lane] { body(lane); });
    }
    /// What the lane `offset` away gave.
    float exchange(int lane, float value, int offset) {
        given_[lane] = value;
        all_.arrive_and_wait();
        const float taken = given_[lane ^ offset];
        all_.arrive_and_wait();
        return taken;
    }

    void sync() { all_.arrive_and_wait(); }

private:
    std::barrier<> all_{kCount};
    float given_[kCount] = {};
};

/// A lane's way to the others, as the steps of the kernels call it.
struct HostWarp {
    Lanes& lanes;
    int lane;
    float exchange(float value, int offset) const { return lanes.exchange(lane, value, offset); }
    void sync() const { lanes.sync(); }
};

}  // namespace pleat::saxs::test
