// A small random family with a made-up result, for tests of what is written from one.
#pragma once

#include <random>
#include <string>

#include "pleat/bio/alignment/alignment.h"
#include "pleat/couplings/couplings.h"

namespace pleat::testing {

/// An alignment of random letters, the columns 2 apart in its source, and a couplings result over
/// it with random model, scores and weights (not fitted to the letters).
struct SmallFamily {
    Alignment alignment;
    couplings::Result result;

    SmallFamily(Index sequences, Index columns, const Alphabet& alphabet, unsigned seed) {
        std::mt19937 random(seed);
        const Index letters = alphabet.size();
        const auto uniform = [&] { return static_cast<float>(random() % 10000) / 10000.0f; };
        alignment.letters = Array<std::uint8_t, 2>(sequences, columns);
        for (std::uint8_t& code : alignment.letters) code = random() % letters;
        for (Index n = 0; n < sequences; ++n) {
            alignment.names.push_back("sequence " + std::to_string(n + 1));
        }
        for (Index i = 0; i < columns; ++i) alignment.columns.push_back(2 * i);
        alignment.alphabet = &alphabet;
        alignment.source = "family.aln";
        alignment.format = "psicov";

        result.model.fields = Array<float, 2>(columns, letters);
        result.model.pairs = Array<float, 3>(columns * (columns - 1) / 2, letters, letters);
        for (float& value : result.model.fields) value = uniform() - 0.5f;
        for (Index i = 0; i < columns; ++i) result.model.fields(i, letters - 1) = 0;
        for (float& value : result.model.pairs) value = uniform() - 0.5f;
        for (Index n = 0; n < sequences; ++n) {
            result.weights.push_back(0.1 + 0.9 * uniform());
            result.effective_sequences += result.weights.back();
        }
        result.raw = Array<double, 2>(columns, columns);
        result.corrected = Array<double, 2>(columns, columns);
        for (Index i = 0; i < columns; ++i) {
            for (Index j = i + 1; j < columns; ++j) {
                result.raw(i, j) = result.raw(j, i) = uniform();
                result.corrected(i, j) = result.corrected(j, i) = uniform();
            }
        }
        result.objective = 123.5;
        result.relative_gap = 1e-5;
        result.iterations = 7;
        result.evaluations = 9;
    }
};

}  // namespace pleat::testing
