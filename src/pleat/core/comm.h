// Comm: the ranks of a run. One rank needs nothing; MPI comes behind the same interface.
#pragma once

#include <cstdint>
#include <vector>

namespace pleat {

/// A group of processes that share one job. This base class is the group of one.
class Comm {
public:
    virtual ~Comm() = default;
    virtual int rank() const { return 0; }
    virtual int size() const { return 1; }
    virtual void barrier() {}
    /// True when it is true on any rank (cancel, failure).
    virtual bool any(bool value) { return value; }
    /// Sum over ranks, the same bits on every rank.
    virtual double sum(double value) { return value; }
    virtual void broadcast(std::vector<std::uint8_t>& bytes, int root) {
        (void)bytes;
        (void)root;
    }
};

}  // namespace pleat
