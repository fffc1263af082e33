// Parameters: the options of the couplings engine, described once.
#include "pleat/couplings/couplings.h"

namespace pleat::couplings {

std::span<const std::string_view> names_of(CompatibleProgram) {
    static constexpr std::string_view kNames[] = {"", "ccmpred"};
    return kNames;
}

std::span<const std::string_view> names_of(NormLetters) {
    static constexpr std::string_view kNames[] = {"", "residues", "all"};
    return kNames;
}

std::span<const std::string_view> names_of(ScoreNull) {
    static constexpr std::string_view kNames[] = {"none", "tree"};
    return kNames;
}

std::span<const std::string_view> names_of(StopReason) {
    static constexpr std::string_view kNames[] = {"converged", "stopped by the compatible rule",
                                                  "iteration limit", "stalled"};
    return kNames;
}

std::vector<Field> fields(Parameters& p) {
    return {{.name = "lambda-single",
             .target = &p.lambda_single,
             .help = "Regularisation of the fields: factor of the sum of e_i(a)^2",
             .min = 1e-6,
             .max = 1e6},
            {.name = "lambda-pair",
             .target = &p.lambda_pair,
             .help = "Regularisation of the couplings: factor, times L - 1, of the sum of "
                     "e_ij(a,b)^2",
             .letter = 'l',
             .min = 1e-6,
             .max = 1e6},
            {.name = "identity",
             .target = &p.identity,
             .help = "Fraction of identical columns above which two sequences share their weight",
             .letter = 'w',
             .min = 0,
             .max = 1,
             .automatic = "0.8, for nucleic acids 0.9"},
            {.name = "sequence-weights",
             .target = &p.sequence_weights,
             .help = "Weight each sequence by the number of its near copies",
             .negated_flag = true},
            {.name = "weights",
             .target = &p.weights,
             .help = "Read the weights of the sequences from this file instead: one number at "
                     "the end of each line, or a .npy array",
             .value_name = "FILE"},
            {.name = "norm",
             .target = &p.norm,
             .help = "Letters over which the norm of a pair's couplings is taken: residues "
                     "(without the gap) or all (with the gap); by default residues for proteins, "
                     "all for nucleic acids"},
            {.name = "apc",
             .target = &p.apc,
             .help = "Correct scores by the average product (APC)",
             .letter = 'A',
             .negated_flag = true},
            {.name = "max-iterations",
             .target = &p.max_iterations,
             .help = "Maximum number of iterations of the minimiser",
             .min = 1,
             .max = 1e9},
            {.name = "tolerance",
             .target = &p.tolerance,
             .help = "Stop when the objective is certified to lie within this relative gap of its "
                     "minimum",
             .min = 1e-9,
             .max = 1},
            {.name = "compatible",
             .target = &p.compatible,
             .help = "Use the optimiser and the stop rule of another program, for comparisons; "
                     "--tolerance then has no effect"},
            {.name = "initial",
             .target = &p.initial,
             .help = "Start from the couplings.npz of an earlier run over the same columns",
             .letter = 'i',
             .value_name = "FILE"},
            {.name = "models",
             .target = &p.models,
             .help = "Keep the fitted fields and couplings, which are large",
             .negated_flag = true}};
}

std::vector<Field> null_fields(Parameters& p) {
    std::vector<Field> all = phylogeny::fields(p.tree);
    all.insert(all.begin(),
               {.name = "null",
                .target = &p.null,
                .help = "Compare scores with fits to null alignments that evolve along a tree of "
                        "the sequences without covariation (tree), for an E of each pair"});
    return all;
}

std::span<const std::string_view> names_of(ModelFiles) {
    static constexpr std::string_view kNames[] = {"none", "npz", "plmc", "npz,plmc"};
    return kNames;
}

std::int64_t bytes_of(ModelFiles files, Index columns, Index letters) {
    const std::int64_t values = columns * (columns - 1) / 2 * letters * letters;
    return 4 * values * has_npz(files) + 8 * values * has_plmc(files);
}

Parameters resolved(Parameters p, const Alphabet& alphabet) {
    const bool is_nucleic =
        alphabet.kind() != Alphabet::Kind::protein && p.compatible == CompatibleProgram::none;
    if (!p.identity) p.identity = is_nucleic ? 0.9 : 0.8;
    if (p.norm == NormLetters::automatic)
        p.norm = is_nucleic ? NormLetters::all : NormLetters::residues;
    return p;
}

}  // namespace pleat::couplings
