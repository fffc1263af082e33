// Alphabets: the codes of protein, RNA and DNA letters.
#include "pleat/bio/alignment.h"

#include <algorithm>

#include <fmt/format.h>

#include "pleat/core/error.h"

namespace pleat {

namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

Alphabet::Alphabet(Kind kind, std::string_view name, std::string_view letters,
                   std::string_view as_gap)
    : kind_(kind), name_(name), letters_(letters) {
    std::fill(std::begin(codes_), std::end(codes_), invalid);
    const auto set = [this](char c, std::uint8_t code) {
        codes_[static_cast<unsigned char>(c)] = code;
        codes_[static_cast<unsigned char>(lower(c))] = code;
    };
    for (std::size_t i = 0; i < letters_.size(); ++i)
        set(letters_[i], static_cast<std::uint8_t>(i));
    for (char c : as_gap) set(c, gap());
    for (char c : std::string_view(".~_")) set(c, gap());
    if (kind == Kind::rna) set('T', code('U'));
    if (kind == Kind::dna) set('U', code('T'));
}

const Alphabet& Alphabet::protein() {
    static const Alphabet alphabet(Kind::protein, "protein", "ARNDCQEGHILKMFPSTWYV-", "BJOUXZ*");
    return alphabet;
}

const Alphabet& Alphabet::rna() {
    static const Alphabet alphabet(Kind::rna, "rna", "ACGU-", "RYSWKMBDHVNX");
    return alphabet;
}

const Alphabet& Alphabet::dna() {
    static const Alphabet alphabet(Kind::dna, "dna", "ACGT-", "RYSWKMBDHVNX");
    return alphabet;
}

const Alphabet& Alphabet::named(std::string_view name) {
    for (const Alphabet* alphabet : {&protein(), &rna(), &dna()}) {
        if (alphabet->name() == name) return *alphabet;
    }
    throw UsageError(fmt::format("expected an alphabet (protein, rna, dna), found '{}'", name));
}

}  // namespace pleat
