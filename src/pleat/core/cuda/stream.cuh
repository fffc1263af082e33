// Stream: a queue of work of a GPU, beside those of the threads.
#pragma once

#include <cuda_runtime.h>

#include "pleat/core/cuda/cuda_check.cuh"

namespace pleat::cuda {

/// Work in it does not wait for other streams. Destroyed with its owner, after the end of its work,
/// on the device that was current at construction.
class Stream {
public:
    Stream() {
        check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cannot make a stream");
    }
    ~Stream() {
        cudaStreamSynchronize(stream_);
        cudaStreamDestroy(stream_);
    }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    operator cudaStream_t() const { return stream_; }

private:
    cudaStream_t stream_ = nullptr;
};

}  // namespace pleat::cuda
