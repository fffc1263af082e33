// Output: the result files of a run of mutual information.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "pleat/bio/alignment/alignment.h"
#include "pleat/bio/structure/known_structure.h"
#include "pleat/core/run/result_columns.h"
#include "pleat/mutual_information/mutual_information.h"

namespace pleat::mutual_information {

/// The content of the files. References and pointers must outlive the calls.
struct Report {
    const Alignment& alignment;  ///< as counted
    const Parameters& parameters;
    const Result& result;
    const ReferenceRow& reference;
    const KnownStructure* structure = nullptr;  ///< may be null
    /// Annotated pairs of columns, i < j; may be null.
    const std::vector<std::pair<Index, Index>>* annotated = nullptr;
};

/// What a result holds, each value described once; see ResultColumn.
ResultColumns columns(const Report& report);

/// The columns i < j of every pair, [pair].
std::vector<std::array<Index, 2>> all_pairs(Index columns);

/// The pairs of pairs.tsv, best first: by exact Z, else by sampled Z, else by APC; with order 2
/// only those of at least Parameters::min_z. Of equal ones the lexicographically first comes first;
/// pairs without a Z (a column of one symbol) come last.
std::vector<Index> ranked_pairs(const Result& result, const Parameters& parameters);

/// Relation of each pair to the annotated ones, [pair]: it is one of them; compatible: both columns
/// are in none; other: a column is in one, with another partner.
enum class Annotation : std::uint8_t { pair, compatible, other };
std::span<const std::string_view> names_of(Annotation);
std::vector<Annotation> annotations(const Report& report);

/// How many pairs of each Annotation have an E of the tree null below kSignificantE; requires
/// Report::annotated and Result::tree.
std::array<Index, 3> significant_pairs(const Report& report);

/// How many annotated pairs one expects to have such an E by the substitutions of their columns
/// (tree/README.md); empty without annotated pairs or a tree null, or for statistics other than
/// gtp.
std::optional<double> expected_pairs(const Report& report);

/// Writes pairs.npz, pairs.tsv, columns.tsv and, with triples, triples.npz, triples.tsv and the
/// clique sets; README.md describes each. Throws OutputError if a file cannot be written.
void write_results(RunDirectory& run, const Report& report, int threads);

/// Keys (core/run/citations.bib) of the papers that describe a run with these parameters.
std::vector<std::string_view> citations(const Parameters& parameters);

}  // namespace pleat::mutual_information
