// Observable files: tables of measured means, and their values in the frames of an ensemble.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pleat/bio/ensemble/ensemble.h"
#include "pleat/saxs/observables.h"

namespace pleat::saxs {

/// The rows of a table of observables.
struct ObservableTable {
    std::string path;
    std::vector<Observable> list;
    std::vector<std::string> computed;  ///< [observable]: "rg", "A:10:CA-A:55:CA"; empty: not
    std::vector<std::int64_t> lines;    ///< [observable]: of the file, from 1

    /// Whether every row says how it is computed.
    bool is_computed() const;
};

/// Reads a table between tabs or commas: a line of the names of its columns in any order, then a
/// row per observable. Columns: name, value, error; and, each optional, kind (names_of(
/// ObservableKind)), average (names_of(Averaging)) and computed: `rg`, the radius of gyration of
/// the selected atoms by mass, or CHAIN:RESIDUE:ATOM-CHAIN:RESIDUE:ATOM, the distance of two of
/// them, angstrom. Throws InputError.
ObservableTable read_observables(const std::string& path);

/// The observables with their values in each frame: computed, or from `values_path`, a table with
/// the names of the others in its first line and a row for each frame.
/// Throws UsageError, InputError.
Observables observables_of(const ObservableTable& table, const std::string& values_path,
                           const Ensemble& ensemble);

}  // namespace pleat::saxs
