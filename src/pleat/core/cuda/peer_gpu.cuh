// Peer GPU: a GPU whose memory other GPUs of the process read, and for whose work they wait.
#pragma once

#include <memory>
#include <type_traits>

#include "pleat/core/cuda/cuda_gpu.cuh"

namespace pleat::cuda {

/// One thread may drive several of them in turn, each after use().
class PeerGpu : public CudaGpu {
public:
    explicit PeerGpu(int index) : CudaGpu(index), index_(index) {}

    /// Makes it the current GPU of the calling thread.
    void use() const { check(cudaSetDevice(index_), "cannot use " + name()); }

    /// Lets kernels of this GPU, the current one, read the memory of the other.
    void read_memory_of(const PeerGpu& other) const {
        if (other.index_ == index_) return;
        const cudaError_t status = cudaDeviceEnablePeerAccess(other.index_, 0);
        if (status == cudaErrorPeerAccessAlreadyEnabled)
            cudaGetLastError();
        else
            check(status, name() + " cannot read the memory of " + other.name());
    }

    /// A point in the work of the GPU that was current when it was made.
    class Event {
    public:
        Event() {
            cudaEvent_t made = nullptr;
            check(cudaEventCreateWithFlags(&made, cudaEventDisableTiming), "cannot make an event");
            event_.reset(made);
        }

    private:
        friend PeerGpu;
        struct Destroy {
            void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
        };
        std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, Destroy> event_;
    };
    /// The event comes after all that this thread has launched on this GPU, the current one.
    void record(const Event& event) const {
        check(cudaEventRecord(event.event_.get(), cudaStreamPerThread), "cannot record an event");
    }
    /// What this thread launches next on this GPU, the current one, begins after the event as it
    /// was recorded last; at once if it never was.
    void wait_for(const Event& event) const {
        check(cudaStreamWaitEvent(cudaStreamPerThread, event.event_.get(), 0),
              "cannot wait for an event");
    }

private:
    int index_;
};

}  // namespace pleat::cuda
