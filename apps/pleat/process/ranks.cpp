// Ranks: what the leading rank does, and what the others get from it.
#include "process/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/core/ranks/deal.h"
#include "pleat/core/terminal/progress_terminal.h"

namespace pleat::program {

void Ranks::require_one(std::string_view command) const {
    if (size() == 1) return;
    throw UsageError(
        fmt::format("'pleat {}' works on one rank: expected no mpirun, or mpirun -n 1, "
                    "found {} ranks",
                    command, size()));
}

Ranks& Ranks::alone() {
    if (size() == 1) return *this;
    if (alone_ == nullptr) alone_.reset(new Ranks(std::make_unique<Comm>()));
    return *alone_;
}

void Ranks::lead(const std::function<void()>& work) { pleat::lead(*comm_, work); }

void Ranks::share(std::string& bytes) {
    std::vector<std::uint8_t> copy(bytes.begin(), bytes.end());
    comm_->broadcast(copy, 0);
    bytes.assign(copy.begin(), copy.end());
}

void Ranks::share(std::filesystem::path& path) {
    std::string text = path.string();
    share(text);
    path = text;
}

void Ranks::share(Array<float, 3>& values) {
    std::vector<Index> shape{values.extent(0), values.extent(1), values.extent(2)};
    share(shape);
    std::vector<float> copy(is_leader() ? values.begin() : nullptr,
                            is_leader() ? values.end() : nullptr);
    share(copy);
    if (is_leader()) return;
    values = Array<float, 3>::unset(shape[0], shape[1], shape[2]);
    std::copy(copy.begin(), copy.end(), values.begin());
}

std::unique_ptr<Progress> Ranks::progress(bool quiet) const {
    return make_progress(stderr, quiet || !is_leader());
}

std::string Ranks::advice() const {
    const int idle = comm_->idle_cpus();
    const double bound = comm_->cpu_share() * comm_->local_size();
    if (idle <= bound) return {};
    return fmt::format(
        "mpirun has bound no rank to {} CPUs of this machine: its option --bind-to "
        "none lets the ranks share them all",
        idle);
}

int Ranks::end(const Failure& failure, const Comm::Report& report) {
    return comm_->end({failure.text, failure.exit_code}, report);
}

}  // namespace pleat::program
