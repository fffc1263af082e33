// Parameters: the options of the couplings engine, described once.
#include "pleat/couplings/couplings.h"

namespace pleat::couplings {

std::vector<Field> fields(Parameters& p) {
    std::vector<Field> list;
    list.push_back({.name = "lambda-single",
                    .target = &p.lambda_single,
                    .help = "Regularisation of the fields: this times the sum of e_i(a)^2",
                    .min = 1e-6,
                    .max = 1e6});
    list.push_back({.name = "lambda-pair",
                    .target = &p.lambda_pair,
                    .help = "Regularisation of the couplings: this times (L - 1) times the sum of "
                            "e_ij(a,b)^2",
                    .letter = 'l',
                    .min = 1e-6,
                    .max = 1e6});
    list.push_back({.name = "threshold",
                    .target = &p.threshold,
                    .help = "Identity above which sequences share their weight",
                    .letter = 'w',
                    .min = 0,
                    .max = 1});
    list.push_back({.name = "weights",
                    .target = &p.weights,
                    .help = "Weight sequences by the number of their near copies",
                    .negated_flag = true});
    list.push_back({.name = "apc",
                    .target = &p.apc,
                    .help = "Correct scores by the average product (APC)",
                    .letter = 'A',
                    .negated_flag = true});
    list.push_back({.name = "iterations",
                    .target = &p.iterations,
                    .help = "Most iterations of the minimiser",
                    .letter = 'n',
                    .min = 1,
                    .max = 1e9});
    list.push_back({.name = "tolerance",
                    .target = &p.tolerance,
                    .help = "Stop when the objective is certified to lie within this relative gap "
                            "of its minimum",
                    .min = 1e-9,
                    .max = 1});
    list.push_back({.name = "compatible",
                    .target = &p.compatible,
                    .help =
                        "Take the optimiser and the stop of another program instead, to compare; "
                        "--tolerance then does not apply",
                    .choices = {"", "ccmpred"}});
    list.push_back({.name = "initial",
                    .target = &p.initial,
                    .help = "Start from the couplings.npz of an earlier run over the same columns",
                    .letter = 'i',
                    .value_name = "FILE"});
    list.push_back({.name = "models",
                    .target = &p.models,
                    .help = "Write couplings.npz and model.plmc, which are large",
                    .negated_flag = true});
    return list;
}

}  // namespace pleat::couplings
