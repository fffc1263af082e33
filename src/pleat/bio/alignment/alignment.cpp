// Alignments: the codes of protein, RNA and DNA letters; filters, columns first, then sequences.
#include "pleat/bio/alignment/alignment.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "pleat/bio/alignment/filter.h"
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
    // The last two codes are the unknown letter and the gap; both become the last code.
    for (std::uint8_t& code : plain.letters) code = std::min(code, plain.alphabet->gap());
    return plain;
}

const Alphabet& Alphabet::named(std::string_view name) {
    for (const Alphabet* alphabet : {&protein(), &rna(), &dna()}) {
        if (alphabet->name() == name) return *alphabet;
    }
    throw UsageError(fmt::format("expected an alphabet (protein, rna, dna), found '{}'", name));
}

namespace {

void check_fraction(double value, const char* name) {
    if (!(value >= 0.0 && value <= 1.0))
        throw UsageError(fmt::format("expected {} in [0, 1], found {}", name, value));
}

std::vector<Index> all_of(Index count) {
    std::vector<Index> all(count);
    std::iota(all.begin(), all.end(), Index{0});
    return all;
}

std::vector<Index> kept_columns(const Alignment& alignment, const FilterOptions& options) {
    const Index count = alignment.sequence_count(), width = alignment.column_count();
    const auto is_outside_focus = [&](Index j) {
        return options.focus && alignment.letters(*options.focus, j) == alignment.alphabet->gap();
    };
    std::vector<Index> kept = all_of(width);
    std::erase_if(kept, is_outside_focus);
    if (options.max_gaps >= 1.0) return kept;
    const std::uint8_t gap = alignment.alphabet->gap();
    std::vector<Index> gaps(width, 0);
    for (Index n = 0; n < count; ++n) {
        const std::uint8_t* row = alignment.letters.data() + n * width;
        for (Index j = 0; j < width; ++j) gaps[j] += row[j] == gap;
    }
    std::erase_if(kept, [&](Index j) {
        return static_cast<double>(gaps[j]) / static_cast<double>(count) > options.max_gaps;
    });
    return kept;
}

std::vector<Index> kept_sequences(const Alignment& alignment, const std::vector<Index>& columns,
                                  double min_coverage) {
    if (min_coverage <= 0.0) return all_of(alignment.sequence_count());
    const std::uint8_t gap = alignment.alphabet->gap();
    const double width = static_cast<double>(columns.size());
    std::vector<Index> kept;
    for (Index n = 0; n < alignment.sequence_count(); ++n) {
        Index residues = 0;
        for (Index j : columns) residues += alignment.letters(n, j) != gap;
        if (static_cast<double>(residues) / width >= min_coverage) kept.push_back(n);
    }
    return kept;
}

void require_two(const Alignment& alignment, std::size_t kept, Index of, std::string_view what,
                 std::string_view condition, double value) {
    if (kept >= 2) return;
    throw InputError(alignment.source.string(), 0,
                     fmt::format("expected at least 2 {} {} {}, found {} of {}", what, condition,
                                 value, kept, of));
}

}  // namespace

Alignment filter(const Alignment& alignment, const FilterOptions& options) {
    check_fraction(options.max_gaps, "the largest fraction of gaps of a column");
    check_fraction(options.min_coverage, "the least coverage of a sequence");
    const std::vector<Index> columns = kept_columns(alignment, options);
    require_two(alignment, columns.size(), alignment.column_count(), "columns",
                "with a fraction of gaps of at most", options.max_gaps);
    const std::vector<Index> sequences = kept_sequences(alignment, columns, options.min_coverage);
    require_two(alignment, sequences.size(), alignment.sequence_count(), "sequences",
                "with a coverage of at least", options.min_coverage);

    Alignment kept;
    kept.alphabet = alignment.alphabet;
    kept.source = alignment.source;
    kept.format = alignment.format;
    kept.notes = alignment.notes;
    kept.letters = Array<std::uint8_t, 2>::unset(sequences.size(), columns.size());
    kept.names.reserve(sequences.size());
    const bool whole_rows = std::ssize(columns) == alignment.column_count();
    std::uint8_t* to = kept.letters.data();
    for (Index n : sequences) {
        kept.names.push_back(alignment.names[n]);
        const std::uint8_t* row = &alignment.letters(n, 0);
        if (whole_rows) {
            to = std::copy_n(row, columns.size(), to);
        } else {
            for (Index j : columns) *to++ = row[j];
        }
    }
    for (Index j : columns) kept.columns.push_back(alignment.columns[j]);
    return kept;
}

std::string gap_only_text(const Alignment& alignment) {
    const std::uint8_t gap = alignment.alphabet->gap();
    const Index width = alignment.column_count();
    std::vector<std::uint8_t> has_residue(width, 0);
    Index sequences = 0;
    for (Index n = 0; n < alignment.sequence_count(); ++n) {
        const View<const std::uint8_t, 1> row = alignment.letters[n];
        bool any = false;
        for (Index j = 0; j < width; ++j) {
            const bool is_residue = row(j) != gap;
            any = any || is_residue;
            has_residue[j] |= is_residue;
        }
        sequences += !any;
    }
    const Index columns = std::ranges::count(has_residue, 0);
    std::string text;
    const auto add = [&](Index count, const char* what) {
        if (count > 0)
            text += fmt::format("{}{} {}{}", text.empty() ? "" : " and ", count, what,
                                count == 1 ? "" : "s");
    };
    add(columns, "column");
    add(sequences, "sequence");
    if (text.empty()) return text;
    return text + (columns + sequences == 1 ? " holds only gaps" : " hold only gaps");
}

}  // namespace pleat
