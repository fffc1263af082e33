// Reading alignments: telling the format and the alphabet, and turning characters into codes.
#include "pleat/bio/alignment/read_alignment.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "pleat/bio/alignment/alignment_formats.h"
#include "pleat/core/error.h"

namespace pleat {

namespace {

/// Gives the first line that is not blank, and gives it back to the source as well.
std::string_view first_line(ByteSource& source) {
    std::string_view line;
    while (source.next(line)) {
        if (is_blank(line)) continue;
        source.hold();
        return line;
    }
    throw InputError(source.name(), std::max<Index>(source.line(), 1),
                     source.line() == 0 ? "expected an alignment, found an empty file"
                                        : "expected an alignment, found no line with content");
}

/// The format by the first line that is neither blank nor, above FASTA records, a comment. The
/// source goes on at that line.
std::string told_format(ByteSource& source) {
    for (;;) {
        std::string_view line = first_line(source);
        if (is_stockholm_header(line)) return "stockholm";
        if (line.front() == '#' || line.front() == ';') {
            source.next(line);
            continue;
        }
        if (line.front() == '>') return "fasta";
        if (is_clustal_header(line)) return "clustal";
        if (is_psicov_row(line)) return "psicov";
        throw InputError(
            source.name(), source.line(),
            fmt::format("expected an alignment (FASTA, A2M, A3M, Stockholm, CLUSTAL or PSICOV "
                        ".aln), found {}",
                        in_quotes(line)));
    }
}

/// What of the characters counts: everything, or in A2M and A3M the match columns.
class Letters {
public:
    explicit Letters(std::string_view format) : match_only_(format == "a2m" || format == "a3m") {}
    bool match_only() const { return match_only_; }
    bool counts(char c) const { return !match_only_ || !((c >= 'a' && c <= 'z') || c == '.'); }
    Index count(const std::string& row) const {
        if (!match_only_) return static_cast<Index>(row.size());
        return std::count_if(row.begin(), row.end(), [this](char c) { return counts(c); });
    }

private:
    bool match_only_;
};

/// Nucleic acid when at least 95 % of the letters are A, C, G, T, U or N. RNA when U is at least as
/// frequent as T and occurs, DNA otherwise.
const Alphabet& told_alphabet(const TextAlignment& text) {
    std::array<Index, 256> count{};
    for (const TextAlignment::Row& row : text.rows) {
        for (unsigned char c : row.letters) ++count[c];
    }
    const auto of = [&count](char c) { return count[c] + count[c - 'A' + 'a']; };
    Index all = 0, nucleic = 0;
    for (char c = 'A'; c <= 'Z'; ++c) all += of(c);
    for (char c : std::string_view("ACGTUN")) nucleic += of(c);
    if (nucleic * 100 < all * 95 || all == 0) return Alphabet::protein();
    return of('U') > 0 && of('U') >= of('T') ? Alphabet::rna() : Alphabet::dna();
}

Index checked_width(TextAlignment& text, const Letters& letters) {
    const Index width = letters.count(text.rows[0].letters);
    const std::string_view what =
        letters.match_only() ? "match columns (upper case and '-')" : "aligned columns";
    const Index count = static_cast<Index>(text.rows.size());
    for (Index n = 0; n < count; ++n) {
        const Index found = letters.count(text.rows[n].letters);
        if (found == width) continue;
        text.complaints.add(text.rows[n].line,
                            fmt::format("expected {} {} as in the first sequence, found {} in {}",
                                        width, what, found, text.label(n)));
    }
    text.complaints.throw_if_any();
    if (count < 2) {
        throw InputError(text.file, text.rows[0].line, "expected at least 2 sequences, found 1");
    }
    if (width < 2) {
        throw InputError(text.file, text.line_of(0, 0),
                         fmt::format("expected at least 2 {}, found {}", what, width));
    }
    return width;
}

/// Complains about the first character of a row that the alphabet lacks.
void complain(TextAlignment& text, Index row, const Letters& letters, const Alphabet& alphabet,
              bool told) {
    const std::string& characters = text.rows[row].letters;
    const auto odd = std::find_if(characters.begin(), characters.end(), [&](char c) {
        return letters.counts(c) && alphabet.code(c) == Alphabet::invalid;
    });
    text.complaints.add(
        text.line_of(row, odd - characters.begin()),
        fmt::format(
            "expected {} letters{}, found '{}' in {}", alphabet.name(),
            told ? " (told by most of the letters: name the alphabet if it is another)" : "", *odd,
            text.label(row)));
}

/// The row as ReadOptions::full_rows has it.
std::string full_row(const std::string& row, const Letters& letters) {
    std::string full;
    for (const char c : row) {
        const bool is_letter = std::isalpha(static_cast<unsigned char>(c)) != 0;
        if (!letters.counts(c)) {
            if (is_letter) full += c;
        } else {
            full +=
                is_letter ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : '-';
        }
    }
    return full;
}

/// Turns characters into codes, freeing each row's text as it goes.
Alignment encoded(TextAlignment& text, const Letters& letters, const Alphabet& alphabet, bool told,
                  std::vector<std::string>* full_rows) {
    const Index width = checked_width(text, letters);
    const Index count = static_cast<Index>(text.rows.size());
    Alignment alignment;
    alignment.alphabet = &alphabet;
    alignment.letters = Array<std::uint8_t, 2>(count, width);
    alignment.names.reserve(count);
    bool all_gaps = true;
    const std::uint8_t gap = alphabet.without_unknown().gap();  // and above it, what is unknown
    for (Index n = 0; n < count; ++n) {
        TextAlignment::Row& row = text.rows[n];
        std::uint8_t* to = alignment.letters.data() + n * width;
        std::uint8_t most = 0;  // `invalid` is above every code
        std::uint8_t least = Alphabet::invalid;
        bool leaves_out = false;
        for (char c : row.letters) {
            const std::uint8_t code = alphabet.code(c);
            leaves_out = leaves_out || (std::isalpha(static_cast<unsigned char>(c)) != 0 &&
                                        (code >= gap || !letters.counts(c)));
            if (!letters.counts(c)) continue;
            *to++ = code;
            most = std::max(most, code);
            least = std::min(least, code);
        }
        if (most == Alphabet::invalid) complain(text, n, letters, alphabet, told);
        all_gaps = all_gaps && least >= gap;
        if (leaves_out && full_rows != nullptr) {
            full_rows->resize(static_cast<std::size_t>(count));
            (*full_rows)[static_cast<std::size_t>(n)] = full_row(row.letters, letters);
        }
        std::string().swap(row.letters);
        alignment.names.push_back(row.name);
    }
    text.complaints.throw_if_any();
    if (all_gaps) {
        throw InputError(text.file, text.rows[0].line,
                         fmt::format("expected {} letters, found gaps only", alphabet.name()));
    }
    alignment.columns.resize(width);
    for (Index j = 0; j < width; ++j) alignment.columns[j] = j;
    return alignment;
}

Alignment read(ByteSource& source, const ReadOptions& options) {
    const std::vector<std::string>& formats = alignment_formats();
    if (!options.format.empty() &&
        std::find(formats.begin(), formats.end(), options.format) == formats.end()) {
        throw UsageError(fmt::format("expected an alignment format ({}), found '{}'",
                                     fmt::join(formats, ", "), options.format));
    }
    const bool told = options.alphabet.empty();
    const Alphabet* alphabet = told ? nullptr : &Alphabet::named(options.alphabet);

    first_line(source);  // an empty file is the same complaint in every format
    std::string format = options.format.empty() ? told_format(source) : options.format;
    TextAlignment text(source, options.most_bytes);
    if (format == "stockholm") {
        read_stockholm(source, text);
    } else if (format == "clustal") {
        read_clustal(source, text);
    } else if (format == "psicov") {
        read_psicov(source, text);
    } else {
        read_fasta(source, text);
    }
    if (options.format.empty() && format == "fasta") format = fasta_relative(text);
    const Letters letters(format);
    if (told) alphabet = &told_alphabet(text);
    if (options.keep_unknown) alphabet = &alphabet->with_unknown();
    if (options.full_rows != nullptr) options.full_rows->clear();
    Alignment alignment = encoded(text, letters, *alphabet, told, options.full_rows);
    alignment.format = format;
    return alignment;
}

}  // namespace

const std::vector<std::string>& alignment_formats() {
    static const std::vector<std::string> formats = {"fasta",     "a2m",     "a3m",
                                                     "stockholm", "clustal", "psicov"};
    return formats;
}

Alignment read_alignment(const std::filesystem::path& path, const ReadOptions& options) {
    ByteSource source(path, options.most_bytes);
    Alignment alignment = read(source, options);
    alignment.source = path;
    return alignment;
}

Alignment read_alignment_from_memory(const std::string& name, std::string_view bytes,
                                     const ReadOptions& options) {
    ByteSource source(name, bytes, options.most_bytes);
    Alignment alignment = read(source, options);
    alignment.source = name;
    return alignment;
}

}  // namespace pleat
