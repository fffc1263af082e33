// Cluster structures: medoids and members of clusters, superposed and written.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/cluster_input.h"
#include "pleat/cluster/cluster.h"
#include "pleat/core/fields.h"
#include "pleat/core/run/run_directory.h"

namespace pleat::program {

/// The format of medoids and members; automatic: PDB if it can hold them, else mmCIF.
enum class StructureFormat { automatic, pdb, cif, none };
std::span<const std::string_view> names_of(StructureFormat);

struct StructureOutput {
    StructureFormat format = StructureFormat::automatic;
    std::string atoms;                        ///< empty: those that were superposed
    std::optional<std::int64_t> members = 0;  ///< clusters whose members are written; not set: all
};
std::vector<Field> fields(StructureOutput& options);

/// Throws UsageError for atoms or members to write with `--structures none`.
void check_options(const StructureOutput& options);

/// Checks before the work what would fail after it: atoms that cannot be selected, structures that
/// PDB cannot hold, and disk space. Throws UsageError, InputError, OutputError.
void check_structures(const ClusterInput& input, const StructureOutput& options,
                      const RunDirectory& run);

/// Bytes per frame and atom of the members of clusters if those of all are written; else 0.
std::int64_t member_bytes(const StructureOutput& options);

/// Writes medoids.pdb (or .cif) with one model per cluster, each superposed onto that of the
/// largest cluster, and members-N.pdb of the clusters asked for, superposed onto their medoids.
/// Writes nothing without coordinates. Throws UsageError (atoms), InputError, OutputError,
/// Cancelled.
void write_structures(RunDirectory& run, const ClusterInput& input, const cluster::Result& result,
                      const StructureOutput& options, const Context& context);

/// Writes NAME.pdb (or .cif): one model for each of `frames`, superposed onto the first of them.
/// Throws as write_structures().
void write_frames(RunDirectory& run, const std::string& name, const ClusterInput& input,
                  const std::vector<Index>& frames, const StructureOutput& options,
                  const Context& context);

}  // namespace pleat::program
