// Select stages: the runs that a selection stands on, each in a folder of its own within.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common_options.h"
#include "pleat/core/context.h"
#include "pleat/core/fields.h"
#include "pleat/core/run/finished_run.h"
#include "pleat/core/run/run_directory.h"

namespace pleat::program {

/// One stage: what it would be run with.
struct Stage {
    std::string name;     ///< of its folder
    std::string command;  ///< "couplings"
    std::vector<Field> fields;
    std::vector<Field> defaults;         ///< the same options, as the command has them by default
    std::vector<std::string> arguments;  ///< without a flag: what the command reads
    std::vector<std::filesystem::path> inputs;  ///< in the order of its manifest
};

/// The words behind `pleat` that repeat the stage alone: command, inputs, output folder, and every
/// option whose value is not its default.
std::vector<std::string> stage_arguments(const Stage& stage, const RunOptions& run,
                                         const std::filesystem::path& folder);

/// The stages of one selection. While there is one, an unfinished selection keeps its folder, so
/// that the same command goes on there.
class Stages {
public:
    explicit Stages(RunDirectory& run);

    /// Keeps a finished run of the same command, version, options and inputs, and says so; else
    /// calls `work` with the folder and whether a run there is to be replaced. Its citations become
    /// those of the selection. Returns the folder. What `work` throws.
    std::filesystem::path make(
        const Stage& stage, const Context& context,
        const std::function<void(const std::filesystem::path& folder, bool force)>& work);

    /// Where the stage's folder is once the selection has finished.
    std::filesystem::path final_folder(const Stage& stage) const {
        return run_.path() / stage.name;
    }

private:
    /// The finished run in the stage's folder, which a forced selection takes from the one that it
    /// replaces if that is the same.
    std::optional<FinishedRun> find(const Stage& stage, const std::filesystem::path& folder);
    void cite(const std::filesystem::path& folder);

    RunDirectory& run_;
    std::filesystem::path mark_;
};

}  // namespace pleat::program
