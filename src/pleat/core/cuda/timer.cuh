// Timer: seconds between two points of the work in a stream, by the GPU's own clock.
#pragma once

#include <cuda_runtime.h>

#include <memory>
#include <type_traits>

#include "pleat/core/cuda/cuda_check.cuh"

namespace pleat::cuda {

/// Belongs to the device that is current when start() is called first.
class Timer {
public:
    explicit Timer(cudaStream_t stream = cudaStreamPerThread) : stream_(stream) {}

    void start() { record(first_); }
    void stop() { record(last_); }
    /// Waits until the work that was launched before stop() has finished.
    double seconds() const {
        float milliseconds = 0;
        check(cudaEventSynchronize(last_.get()), "cannot compute");
        check(cudaEventElapsedTime(&milliseconds, first_.get(), last_.get()),
              "cannot read a timer");
        return 1e-3 * static_cast<double>(milliseconds);
    }

private:
    struct Destroy {
        void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
    };
    using Event = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, Destroy>;

    void record(Event& event) {
        if (event == nullptr) {
            cudaEvent_t made = nullptr;
            check(cudaEventCreate(&made), "cannot make a timer");
            event.reset(made);
        }
        check(cudaEventRecord(event.get(), stream_), "cannot start or stop a timer");
    }

    cudaStream_t stream_;
    Event first_, last_;
};

}  // namespace pleat::cuda
