// Run estimate: what --estimate prints of a run, and of a list of jobs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "options/common_options.h"
#include "pleat/core/estimate.h"

namespace pleat::program {

/// What a run needs.
struct RunEstimate {
    std::string input;         ///< its size: "3629 sequences, 159 columns"
    bool may_use_gpu = false;  ///< whether --device auto may choose a GPU
    /// For the context's device and threads. Throws UsageError for a device that does not compute
    /// this.
    std::function<Estimate(const Context&)> on;
};

/// Sums over the jobs of a list.
class EstimateTable {
public:
    explicit EstimateTable(const RunOptions& options, bool is_list);
    /// The lines of one run, called `name`.
    std::string add(const std::string& name, const RunEstimate& run);
    /// The lines at the end: for a list its sum on each device; the available memory and disk.
    std::string end() const;
    /// Throws OutputError if the files would not fit on the disk of --output.
    void require_disk() const;

private:
    struct Row {
        std::string device;
        Context context;
        std::int64_t jobs = 0;
        Estimate sum = {};  ///< the maximum of memory, and the sum of seconds
    };
    std::string line(const Row& row, const Estimate& needed) const;

    bool is_named_, is_list_;
    std::string folder_;
    std::vector<Row> rows_;
};

/// Adds --estimate, with which --output may be missing.
void add_estimate_option(CLI::App& command, RunOptions& options);
/// Prints what one run needs. Throws UsageError on several ranks.
void print_estimate(const std::string& name, const RunEstimate& run, const RunOptions& options,
                    const Ranks& ranks);

}  // namespace pleat::program
