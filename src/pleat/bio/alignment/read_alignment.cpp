// Reading alignments: detecting the format and the alphabet, and turning characters into codes.
#include "pleat/bio/alignment/read_alignment.h"

#include <algorithm>
#include <cctype>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "pleat/bio/alignment/text_alignment.h"
#include "pleat/core/error.h"

namespace pleat {

namespace {

constexpr std::string_view kReadFormats =
    "FASTA, A2M, A3M, Stockholm, CLUSTAL, PHYLIP or PSICOV .aln";

struct FormatReader {
    std::string_view name;
    /// Whether the first non-blank line shows this format; null if only the letters show it.
    bool (*begins)(std::string_view line);
    void (*read)(ByteSource& source, TextAlignment& text);
    bool is_sure =
        false;  ///< a line that begins it is of no other format, also not of foreign ones
};

void read_records(ByteSource& source, TextAlignment& text) { read_fasta(source, text); }

/// In the order of AlignmentFormat. A line has the first format whose test it passes.
constexpr FormatReader kFormats[] = {
    {"fasta", [](std::string_view line) { return line.front() == '>'; }, read_records},
    {"a2m", nullptr, read_records},
    {"a3m", nullptr, read_records},
    {"stockholm", is_stockholm_header, read_stockholm, true},
    {"clustal", is_clustal_header, read_clustal, true},
    {"psicov", is_psicov_row, read_psicov},
    {"phylip", is_phylip_header, read_phylip}};

/// Throws UsageError if there is no such format.
AlignmentFormat named_format(const std::string& name) {
    const std::vector<std::string>& names = alignment_formats();
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) {
        throw UsageError(fmt::format("expected an alignment format ({}), found '{}'",
                                     fmt::join(names, ", "), name));
    }
    return static_cast<AlignmentFormat>(found - names.begin());
}

/// Returns the first line that is not blank, and puts it back into the source.
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

/// The name of an unsupported format that the first line shows; else empty.
std::string_view other_format(std::string_view line) {
    constexpr std::string_view kTypesOfPir = "P1;F1;DL;DC;RL;RC;N1;N3;XX;";
    constexpr auto kNone = std::string_view::npos;
    const std::vector<std::string_view> found = words(line);
    if (line.front() == '>')
        return line.size() > 4 && line[3] == ';' && kTypesOfPir.find(line.substr(1, 3)) != kNone
                   ? "PIR"
                   : "";
    if (line.starts_with("#NEXUS") || line.starts_with("#nexus")) return "NEXUS";
    if (line.starts_with("#=")) return "SELEX";
    if (line.front() == '#' || line.front() == ';') return "";
    if (found[0] == "PileUp" || line.starts_with("!!")) return "MSF";
    Index size = 0;
    if (found.size() == 1) return parse_number(found[0], size) ? "a distance matrix of PHYLIP" : "";
    for (const std::string_view word : found)
        if (word == "MSF" || word == "MSF:") return "MSF";
    if (found.size() == 2 && is_psicov_row(found[1]) &&
        found[1].find_first_of("ACDEGHKNRST-.") != kNone)
        return "rows of a name and letters without a header (SELEX, Pfam, PSI-BLAST); between "
               "lines '# STOCKHOLM 1.0' and '//' they can be read";
    return "";
}

/// Detects the format by the first line that is not blank and no comment before FASTA records. That
/// line is the next one read from the source.
AlignmentFormat told_format(ByteSource& source, TextAlignment& text) {
    const auto find = [](std::string_view line, bool is_sure) {
        return std::ranges::find_if(kFormats, [&](const FormatReader& one) {
            return one.is_sure == is_sure && one.begins != nullptr && one.begins(line);
        });
    };
    const auto format_of = [](const FormatReader* row) {
        return static_cast<AlignmentFormat>(row - kFormats);
    };
    for (;;) {
        std::string_view line = first_line(source);
        if (const auto* row = find(line, true); row != std::end(kFormats)) return format_of(row);
        const std::string_view other = other_format(line);
        if (!other.empty())
            throw InputError(
                source.name(), source.line(),
                fmt::format("expected an alignment ({}), found {}", kReadFormats, other));
        if (line.front() == '#' || line.front() == ';') {
            read_part_lengths(line, text);
            source.next(line);
            continue;
        }
        if (const auto* row = find(line, false); row != std::end(kFormats)) return format_of(row);
        throw InputError(
            source.name(), source.line(),
            fmt::format("expected an alignment ({}), found {}", kReadFormats, in_quotes(line)));
    }
}

/// The content of a source and how it is interpreted.
struct Reading {
    TextAlignment text;
    AlignmentFormat format = AlignmentFormat::fasta;
    const Alphabet* alphabet = nullptr;
    bool match_only = false;             ///< lower case and '.' are insertions
    std::vector<bool> is_inserted = {};  ///< [column of the file], by the RF line; empty: none
    bool has_modified_bases = false;     ///< letters of RNA that stand for its bases

    Index width() const {
        return text.summary.width(match_only) - std::ranges::count(is_inserted, true);
    }
    bool leaves_out(char c, std::size_t at) const {
        return is_inserted.empty() ? match_only && is_insertion(c) : is_inserted[at];
    }
    /// The letter to encode: a modified base becomes its parent.
    char letter(char c) const {
        const auto upper = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
        const std::size_t at = has_modified_bases ? kModifiedBases.find(upper) : kNone;
        return at == kNone ? c : kParentBases[at];
    }
    static constexpr std::size_t kNone = std::string_view::npos;
};

/// Marks the columns that the RF line of a Stockholm alignment leaves out.
void read_reference_line(Reading& reading) {
    for (const char c : reading.text.reference) reading.is_inserted.push_back(is_reference_gap(c));
    if (reading.width() < 2)
        throw InputError(reading.text.file, 0,
                         fmt::format("expected at least 2 columns that the line #=GC RF names, "
                                     "found {}; --insertions keep reads all",
                                     reading.width()));
}

/// Reads all lines, and detects the format.
void read_rows(ByteSource& source, const ReadOptions& options, Reading& reading) {
    TextAlignment& text = reading.text;
    AlignmentFormat& format = reading.format;
    const bool tells_format = options.format.empty();
    const bool drops = options.insertions == Insertions::drop;
    format = tells_format ? told_format(source, text) : named_format(options.format);
    kFormats[static_cast<std::size_t>(format)].read(source, text);
    if (options.insertions == Insertions::keep) return;
    const AlignmentSummary& summary = text.summary;
    if (!text.reference.empty() && std::ssize(text.reference) != summary.width(false)) {
        text.notes.push_back({NoteKind::insertions,
                              fmt::format("the line #=GC RF has {} of {} columns and is not used",
                                          text.reference.size(), summary.width(false)),
                              "", true});
        text.reference.clear();
    }
    const bool is_told_fasta = tells_format && format == AlignmentFormat::fasta;
    if (is_told_fasta && !drops) format = summary.detect_fasta_format(text.file);
    if (is_told_fasta && drops)
        format = summary.is_ragged() ? AlignmentFormat::a3m : AlignmentFormat::a2m;
    // A named format whose letters all count says what lower case means.
    const bool may_be_a2m =
        format != AlignmentFormat::fasta && (tells_format || format != AlignmentFormat::psicov);
    reading.match_only = text.reference.empty() && (drops || has_match_columns(format) ||
                                                    (may_be_a2m && summary.is_like_a2m()));
}

/// Adds notes on what the reader decided from the letters.
void note_decisions(const ReadOptions& options, Reading& reading) {
    const AlignmentSummary& summary = reading.text.summary;
    const Index all = summary.width(false);
    const bool is_named = has_match_columns(reading.format) && !options.format.empty();
    if (options.insertions == Insertions::automatic && !is_named && !summary.is_ragged() &&
        reading.width() < all)
        reading.text.notes.push_back(
            {NoteKind::insertions,
             fmt::format("{} of {} columns are left out as insertions: {}", all - reading.width(),
                         all,
                         reading.match_only ? "all their letters are lower case or '.'"
                                            : "the line #=GC RF does not name them"),
             "--insertions keep"});
    if (const Index unknown = summary.count_mark('?'); unknown > 0)
        reading.text.notes.push_back(
            {NoteKind::alphabet, fmt::format("{} '?' are read as gaps", unknown)});
    const Index codes = summary.ambiguity_codes(), letters = summary.letter_counts().first;
    const bool is_protein = reading.alphabet->kind() == Alphabet::Kind::protein;
    constexpr Index kEnough = 50;  // of a protein hardly as many are without E, F, I, L, P and Q
    if (options.alphabet.empty() && codes * 20 > letters && !(is_protein && letters < kEnough))
        reading.text.notes.push_back(
            {NoteKind::alphabet,
             fmt::format("read as {}: {} of {} letters are ambiguity codes of nucleic acids, all "
                         "others A, C, G, T, U or N",
                         reading.alphabet->name(), codes, letters),
             is_protein ? "--alphabet dna" : "--alphabet protein", is_protein});
    if (!reading.has_modified_bases) return;
    Index count = 0;
    for (const char c : kModifiedBases) count += summary.count(c);
    reading.text.notes.push_back(
        {NoteKind::alphabet,
         fmt::format("RNA with modified bases: {} letters count as their parents (D and P as U, I "
                     "as A)",
                     count),
         options.alphabet.empty() ? "--alphabet protein" : ""});
}

/// Reads and checks the rows; throws unless they form an alignment. Keeps limited memory.
Reading checked_rows(ByteSource& source, const ReadOptions& options, Index max_kept_bytes) {
    source.allow_records();
    first_line(source);  // an empty file is the same complaint in every format
    Reading reading{TextAlignment(source, options.max_bytes, max_kept_bytes)};
    reading.text.record = options.record.value_or(1);
    reading.text.record_is_named = options.record.has_value();
    read_rows(source, options, reading);
    const AlignmentSummary& summary = reading.text.summary;
    const bool told = options.alphabet.empty();
    reading.alphabet = told ? &summary.likely_alphabet() : &Alphabet::named(options.alphabet);
    summary.check(reading.text.file, reading.match_only, *reading.alphabet, told);
    if (options.insertions != Insertions::keep && !reading.text.reference.empty())
        read_reference_line(reading);
    reading.has_modified_bases =
        reading.alphabet->kind() == Alphabet::Kind::rna && summary.has_modified_bases();
    note_decisions(options, reading);
    return reading;
}

/// Replaces '.' by the letter of the first row if '.' means "same as the first row": the first row
/// has none, every other row has some, and no row repeats a letter of the first.
void read_match_marks(Reading& reading) {
    const AlignmentFormat format = reading.format;
    if (reading.match_only || format == AlignmentFormat::stockholm ||
        reading.text.summary.count_mark('.') == 0)
        return;
    std::vector<TextRow>& rows = reading.text.rows;
    const std::string first = rows[0].letters;
    const auto is_marked = [&](const TextRow& row) {
        if (row.letters.find('.') == std::string::npos) return false;
        for (std::size_t at = 0; at < first.size(); ++at)
            if (row.letters[at] == first[at] && std::isalpha(static_cast<unsigned char>(first[at])))
                return false;
        return true;
    };
    const bool are_marks = first.find('.') == std::string::npos &&
                           std::all_of(rows.begin() + 1, rows.end(), is_marked);
    if (are_marks)
        for (TextRow& row : rows)
            for (std::size_t at = 0; at < first.size(); ++at)
                if (row.letters[at] == '.') row.letters[at] = first[at];
    if (are_marks || format == AlignmentFormat::phylip)
        reading.text.notes.push_back(
            {NoteKind::alphabet, are_marks ? "'.' is read as the letter of the first sequence"
                                           : "'.' is read as a gap, not as the letter of the "
                                             "first sequence"});
}

/// The row as Alignment::full_rows has it.
std::string full_row(const std::string& row, const Reading& reading) {
    std::string full;
    for (std::size_t at = 0; at < row.size(); ++at) {
        const char c = reading.letter(row[at]);
        const auto byte = static_cast<unsigned char>(c);
        const bool is_letter = std::isalpha(byte) != 0;
        if (!reading.leaves_out(row[at], at))
            full += is_letter ? static_cast<char>(std::toupper(byte)) : '-';
        else if (is_letter)
            full += static_cast<char>(std::tolower(byte));
    }
    return full;
}

/// Turns characters into codes, freeing each row's text as it goes.
Alignment encoded(Reading& reading, const ReadOptions& options) {
    read_match_marks(reading);
    std::vector<TextRow>& rows = reading.text.rows;
    const Index count = reading.text.row_count();
    const Index width = reading.width();
    const Alphabet& alphabet =
        options.keep_unknown ? reading.alphabet->with_unknown() : *reading.alphabet;
    Alignment alignment;
    alignment.format = alignment_formats()[static_cast<std::size_t>(reading.format)];
    alignment.alphabet = &alphabet;
    alignment.letters = Array<std::uint8_t, 2>(count, width);
    alignment.names.reserve(count);
    alignment.notes = std::move(reading.text.notes);
    alignment.parts = std::move(reading.text.parts);
    const std::uint8_t gap = alphabet.without_unknown().gap();  // and above it, what is unknown
    std::uint8_t* to = alignment.letters.data();
    for (Index n = 0; n < count; ++n) {
        bool leaves_out = false;
        const std::string& letters = rows[n].letters;
        for (std::size_t at = 0; at < letters.size(); ++at) {
            const char c = letters[at];
            const std::uint8_t code = alphabet.code(reading.letter(c));
            const bool is_inserted = reading.leaves_out(c, at);
            leaves_out = leaves_out || (std::isalpha(static_cast<unsigned char>(c)) != 0 &&
                                        (code >= gap || is_inserted));
            if (!is_inserted) *to++ = code;
        }
        if (leaves_out && options.keep_full_rows) {
            alignment.full_rows.resize(count);
            alignment.full_rows[n] = full_row(letters, reading);
        }
        std::string().swap(rows[n].letters);
        alignment.names.push_back(std::move(rows[n].name));
    }
    alignment.columns.resize(width);
    for (Index j = 0; j < width; ++j) alignment.columns[j] = j;
    return alignment;
}

/// `open` opens the source from its start.
template <class Open>
Alignment read(const Open& open, const ReadOptions& options) {
    if (!options.format.empty()) named_format(options.format);
    if (!options.alphabet.empty()) Alphabet::named(options.alphabet);
    const auto rows = [&](Index max_kept_bytes) {
        const std::unique_ptr<ByteSource> source = open();
        return checked_rows(*source, options, max_kept_bytes);
    };
    Reading reading = rows(options.max_kept_bytes);
    if (!reading.text.keeps_letters()) reading = rows(TextAlignment::kKeepAll);
    return encoded(reading, options);
}

}  // namespace

std::span<const std::string_view> names_of(Insertions) {
    static constexpr std::string_view kNames[] = {"auto", "drop", "keep"};
    return kNames;
}

std::vector<Field> fields(ReadOptions& options) {
    std::vector<std::string> formats = alignment_formats();
    formats.insert(formats.begin(), "");
    return {{.name = "format",
             .target = &options.format,
             .help = "Format of the alignment; detected automatically by default",
             .choices = formats},
            {.name = "alphabet",
             .target = &options.alphabet,
             .help = "Alphabet; detected automatically by default",
             .choices = {"", "protein", "rna", "dna"}},
            {.name = "insertions",
             .target = &options.insertions,
             .help = "Columns of insertions (the RF line of Stockholm; lower case and '.'): drop "
                     "or keep them; auto drops them if the file marks them"},
            {.name = "record",
             .target = &options.record,
             .help = "Which alignment to read from a file with several, counted from 1; --sweep "
                     "record=1:N:1 makes each of them a job",
             .min = 1,
             .automatic = "the first"}};
}

const std::vector<std::string>& alignment_formats() {
    static const std::vector<std::string> formats = [] {
        std::vector<std::string> names;
        for (const FormatReader& one : kFormats) names.emplace_back(one.name);
        return names;
    }();
    return formats;
}

Alignment read_alignment(const std::filesystem::path& path, const ReadOptions& options) {
    Alignment alignment =
        read([&] { return std::make_unique<ByteSource>(path, options.max_bytes); }, options);
    alignment.source = path;
    return alignment;
}

Alignment read_alignment_from_memory(const std::string& name, std::string_view bytes,
                                     const ReadOptions& options) {
    Alignment alignment =
        read([&] { return std::make_unique<ByteSource>(name, bytes, options.max_bytes); }, options);
    alignment.source = name;
    return alignment;
}

}  // namespace pleat
