// Output: what a run of mutual information leaves in its run directory.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pleat/bio/alignment/alignment.h"
#include "pleat/bio/structure/known_structure.h"
#include "pleat/core/run/run_directory.h"
#include "pleat/mutual_information/mutual_information.h"

namespace pleat::mutual_information {

/// Everything that the files tell. All references and pointers outlive the calls.
struct Report {
    const Alignment& alignment;  ///< as counted
    const Parameters& parameters;
    const Result& result;
    const ReferenceRow& reference;
    const KnownStructure* structure = nullptr;  ///< null: none given
};

/// The pairs that pairs.tsv lists, best first: by exact Z, else by sampled Z, else by MIp, with
/// order 2 each of at least Parameters::threshold; of equal ones the lexicographically first. Pairs
/// without a Z (a column of one symbol) come last.
std::vector<Index> ranked_pairs(const Result& result, const Parameters& parameters);

/// Writes pairs.npz, pairs.tsv, columns.tsv and, with triples, triples.npz, triples.tsv and the
/// clique sets; README.md of this folder describes each. OutputError where files cannot be written.
void write_results(RunDirectory& run, const Report& report, int threads);

/// Keys of the papers on which a run with these parameters is based (core/run/citations.bib).
std::vector<std::string_view> citations(const Parameters& parameters);

}  // namespace pleat::mutual_information
