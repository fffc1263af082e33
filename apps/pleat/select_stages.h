// Select stages: the runs that a selection stands on, each in a folder of its own within.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "pleat/core/context.h"
#include "pleat/core/fields.h"
#include "pleat/core/run_directory.h"

namespace pleat::program {

/// One stage: what it would be run with.
struct Stage {
    std::string name;     ///< of its folder
    std::string command;  ///< "couplings"
    std::vector<Field> fields;
    std::vector<std::filesystem::path> inputs;  ///< in the order of its manifest
};

/// The stages of one selection. While there is one, an unfinished selection keeps its folder, so
/// that the same command goes on there.
class Stages {
public:
    /// `force`: replaces unfinished stages too.
    Stages(RunDirectory& run, bool force);

    /// Keeps a finished run of the same command, version, options and inputs, and says so; else
    /// calls `work` with the folder and whether a run there is to be replaced. Its citations become
    /// those of the selection. Returns the folder. What `work` throws.
    std::filesystem::path make(
        const Stage& stage, const Context& context,
        const std::function<void(const std::filesystem::path& folder, bool force)>& work);

private:
    void cite(const std::filesystem::path& folder);

    RunDirectory& run_;
    std::filesystem::path mark_;
    bool force_;
};

}  // namespace pleat::program
