// Alignment null: the tree of an alignment, and its scores compared with those of null alignments.
#pragma once

#include <functional>
#include <vector>

#include "pleat/bio/alignment/alignment.h"
#include "pleat/core/array.h"
#include "pleat/core/context.h"
#include "pleat/phylogeny/significance.h"
#include "pleat/phylogeny/tree_null.h"

namespace pleat::phylogeny {

/// The scores of all pairs of columns of one alignment, and their mean before APC.
struct PairScores {
    std::vector<double> values;
    double mean = 0;
};

/// Letters [column, row], `states` where there is no residue, to scores. Called by several threads
/// at a time, each with its number.
using ScoreLetters = std::function<PairScores(View<const std::uint8_t, 2> letters, int thread)>;

/// Letters of an alignment that are residues: all but the gap and unknown ones.
int state_count(const Alignment& alignment);

/// The letters of the alignment as [column, row], `states` where there is no residue.
Array<std::uint8_t, 2> transposed_letters(const Alignment& alignment, int states);

/// Reads the tree or makes it by UPGMA, and sets what `result` says of it. Throws InputError (the
/// tree; names; fewer than 20 rows; columns without residues; no substitutions), UsageError (more
/// rows than UPGMA takes), Cancelled.
TreeNull make_null(const Alignment& alignment, const TreeOptions& options, const Context& context,
                   TreeResult& result);

/// How many null alignments to score before their scores are added up, if scoring one takes
/// milliseconds.
Index block_of_nulls(Index pairs, int threads);

/// Bytes of the tree, its states, and what each thread draws.
std::int64_t null_bytes(Index rows, Index columns, int symbols, int threads);

/// Draws and scores all null alignments, on `threads` threads, `block` of them between reports of
/// progress, in the stage "null alignments", and sets the rest of `result`. The same bits for any
/// number of threads. Warns if too many pairs have a small p. Throws Cancelled
/// and what `score` throws.
void compare(const TreeNull& null, const Alignment& alignment, const TreeOptions& options,
             PairScores observed, const ScoreLetters& score, int threads, Index block,
             const Context& context, TreeResult& result);

}  // namespace pleat::phylogeny
