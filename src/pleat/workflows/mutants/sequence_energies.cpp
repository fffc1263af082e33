// Sequence energies: choosing the columns of rows, and aligning residues to them.
#include "pleat/workflows/mutants/sequence_energies.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "pleat/bio/alignment/text_alignment.h"
#include "pleat/core/error.h"
#include "pleat/core/files/text.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/workflows/mutants/family_profile.h"

namespace pleat::mutants {

namespace {

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

/// How the rows of a file are aligned.
struct Layout {
    bool match_only = false;     ///< lower case and '.' are insertions
    std::vector<Index> columns;  ///< [column of the model]: column of the rows
};

/// Columns that a row has: all, or its match columns.
Index width_of(const std::string& row, bool match_only) {
    const auto size = static_cast<Index>(row.size());
    return match_only ? size - std::count_if(row.begin(), row.end(), is_insertion) : size;
}

std::optional<Layout> layout_of(const SequenceFile& file,
                                const couplings::ModelDescription& about) {
    const auto own = static_cast<Index>(about.reference.size());
    for (const bool match_only : {true, false}) {
        for (const Index width : {about.source_columns, own}) {
            const bool fits =
                width > 0 && std::all_of(file.rows.begin(), file.rows.end(), [&](const auto& row) {
                    return width_of(row, match_only) == width;
                });
            if (!fits) continue;
            Layout layout{match_only, about.columns};
            if (width == own)
                for (Index i = 0; i < own; ++i) layout.columns[static_cast<std::size_t>(i)] = i;
            return layout;
        }
    }
    return std::nullopt;
}

ColumnSequence by_layout(const std::string& row, const Layout& layout, const Alphabet& alphabet) {
    std::string all;
    ColumnSequence found;
    for (const char c : row) {
        found.inserted += is_letter(c);
        if (!layout.match_only || !is_insertion(c)) all += c;
    }
    for (const Index column : layout.columns) {
        const char c = all[static_cast<std::size_t>(column)];
        found.codes.push_back(std::min(alphabet.code(c), alphabet.gap()));
        found.inserted -= is_letter(c);  // an unknown letter is in its column, too
    }
    return found;
}

ColumnSequence by_profile(const std::string& row, const ProfileScoring& profile,
                          const Alphabet& alphabet) {
    std::vector<std::uint8_t> residues;
    for (const char c : row)
        if (is_letter(c)) residues.push_back(std::min(alphabet.code(c), alphabet.gap()));
    const std::vector<Index> columns = profile_columns(profile, residues);
    ColumnSequence found{std::vector<std::uint8_t>(
                             static_cast<std::size_t>(profile.scores.extent(0)), alphabet.gap()),
                         0};
    for (std::size_t n = 0; n < residues.size(); ++n) {
        if (columns[n] < 0)
            ++found.inserted;
        else
            found.codes[static_cast<std::size_t>(columns[n])] = residues[n];
    }
    return found;
}

/// Throws for the first letter that is none of the alphabet's.
void check_letters(const SequenceFile& file, const Alphabet& alphabet) {
    for (std::size_t n = 0; n < file.rows.size(); ++n)
        for (const char c : file.rows[n])
            if (alphabet.code(c) == Alphabet::invalid)
                throw InputError(file.source, file.lines[n],
                                 fmt::format("expected letters of {}, found '{}' in '{}'",
                                             alphabet.name(), c, printable(file.names[n])));
}

}  // namespace

void check_sequences(const SequenceFile& file, const couplings::ModelDescription& about,
                     bool align) {
    check_letters(file, *about.alphabet);
    if (align || layout_of(file, about)) return;
    const auto own = static_cast<Index>(about.reference.size());
    const Index width = about.source_columns > 0 ? about.source_columns : own;
    std::size_t odd = 0;
    while (odd + 1 < file.rows.size() && width_of(file.rows[odd], true) == width) ++odd;
    throw InputError(
        file.source, file.lines[odd],
        fmt::format("expected rows of {} columns like the family, found {} in '{}'; --align "
                    "aligns sequences to the family's profile",
                    width, width_of(file.rows[odd], true), printable(file.names[odd])));
}

std::vector<ColumnSequence> sequences_in_columns(const SequenceFile& file,
                                                 const couplings::ModelDescription& about,
                                                 bool align, const Context& context,
                                                 bool& is_aligned_here) {
    const Alphabet& alphabet = *about.alphabet;
    check_sequences(file, about, align);
    const std::optional<Layout> layout = layout_of(file, about);
    is_aligned_here = !layout;
    const ProfileScoring profile = layout ? ProfileScoring{} : family_profile(about);
    std::vector<ColumnSequence> found(file.rows.size());
    parallel_for(resolve_threads(context), static_cast<Index>(found.size()), [&](Index n, int) {
        const std::string& row = file.rows[static_cast<std::size_t>(n)];
        found[static_cast<std::size_t>(n)] =
            layout ? by_layout(row, *layout, alphabet) : by_profile(row, profile, alphabet);
    });
    return found;
}

}  // namespace pleat::mutants
