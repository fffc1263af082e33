// A small random model with a description, and texts of refusals, for tests of mutants.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/couplings/files/model_file.h"

namespace pleat::mutants::testing {

/// The text of the refusal; empty if there is none.
template <class Call>
std::string refusal(const Call& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

/// A model of random fields and couplings in no gauge of its own, with or without the gap as a
/// state. The reference row has the letters of `sequence`; '-' is a gap.
inline couplings::SavedModel small_model(const std::string& reference, bool has_gap_state,
                                         unsigned seed,
                                         const Alphabet& alphabet = Alphabet::protein()) {
    std::mt19937 random(seed);
    const auto uniform = [&] { return static_cast<float>(random() % 20000) / 10000.0f - 1.0f; };
    const auto columns = static_cast<Index>(reference.size());
    const Index letters = alphabet.size() - (has_gap_state ? 0 : 1);
    couplings::SavedModel saved;
    saved.model.fields = Array<float, 2>(columns, letters);
    saved.model.pairs = Array<float, 3>(columns * (columns - 1) / 2, letters, letters);
    for (float& value : saved.model.fields) value = uniform();
    for (float& value : saved.model.pairs) value = uniform();
    couplings::ModelDescription& about = saved.about;
    about.alphabet = &alphabet;
    about.effective_sequences = 50;
    about.frequencies = Array<double, 2>(columns, letters);
    for (Index i = 0; i < columns; ++i) {
        double sum = 0;
        for (Index a = 0; a < letters; ++a) sum += about.frequencies(i, a) = random() % 7;
        for (Index a = 0; a < letters; ++a) about.frequencies(i, a) /= sum;
        about.columns.push_back(i);
    }
    about.source_columns = columns;
    about.reference_name = "row/5-99";
    about.reference = reference;
    for (const char letter : reference) {
        if (letter != '-') about.sequence += letter;
        about.numbers.push_back(letter == '-' ? 0 : static_cast<Index>(about.sequence.size()));
    }
    return saved;
}

}  // namespace pleat::mutants::testing
