// Alphabets: the codes of protein, RNA and DNA letters.
#include "pleat/bio/alignment/alignment.h"

#include <algorithm>

#include <fmt/format.h>

#include "pleat/core/error.h"

namespace pleat {

namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

Alphabet::Alphabet(Kind kind, std::string_view name, std::string_view letters,
                   std::string_view unknown, bool unknown_is_gap)
    : kind_(kind), name_(name), letters_(letters) {
    std::fill(std::begin(codes_), std::end(codes_), invalid);
    const auto set = [this](char c, std::uint8_t code) {
        codes_[static_cast<unsigned char>(c)] = code;
        codes_[static_cast<unsigned char>(lower(c))] = code;
    };
    if (!unknown_is_gap) letters_.insert(letters_.size() - 1, kind == Kind::protein ? "X" : "N");
    for (std::size_t i = 0; i < letters_.size(); ++i)
        set(letters_[i], static_cast<std::uint8_t>(i));
    for (char c : unknown) set(c, static_cast<std::uint8_t>(gap() - (unknown_is_gap ? 0 : 1)));
    for (char c : std::string_view(".~_?")) set(c, gap());
    if (kind == Kind::rna) set('T', code('U'));
    if (kind == Kind::dna) set('U', code('T'));
}

const Alphabet& Alphabet::of(Kind kind, bool unknown_is_gap) {
    constexpr std::string_view kOddResidues = "BJOUXZ*", kOddNucleotides = "RYSWKMBDHVNX";
    constexpr std::string_view kResidues = "ARNDCQEGHILKMFPSTWYV-";
    static const Alphabet alphabets[3][2] = {
        {{Kind::protein, "protein", kResidues, kOddResidues, false},
         {Kind::protein, "protein", kResidues, kOddResidues, true}},
        {{Kind::rna, "rna", "ACGU-", kOddNucleotides, false},
         {Kind::rna, "rna", "ACGU-", kOddNucleotides, true}},
        {{Kind::dna, "dna", "ACGT-", kOddNucleotides, false},
         {Kind::dna, "dna", "ACGT-", kOddNucleotides, true}}};
    return alphabets[static_cast<int>(kind)][unknown_is_gap ? 1 : 0];
}

const Alphabet& Alphabet::protein() { return of(Kind::protein, true); }
const Alphabet& Alphabet::rna() { return of(Kind::rna, true); }
const Alphabet& Alphabet::dna() { return of(Kind::dna, true); }
const Alphabet& Alphabet::with_unknown() const { return of(kind_, false); }
const Alphabet& Alphabet::without_unknown() const { return of(kind_, true); }

Alignment without_unknown(const Alignment& alignment) {
    Alignment plain = alignment;
    plain.alphabet = &alignment.alphabet->without_unknown();
    // The unknown letter and the gap are the last two codes: both become the last.
    for (std::uint8_t& code : plain.letters) code = std::min(code, plain.alphabet->gap());
    return plain;
}

const Alphabet& Alphabet::named(std::string_view name) {
    for (const Alphabet* alphabet : {&protein(), &rna(), &dna()}) {
        if (alphabet->name() == name) return *alphabet;
    }
    throw UsageError(fmt::format("expected an alphabet (protein, rna, dna), found '{}'", name));
}

}  // namespace pleat
