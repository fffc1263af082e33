// Reading alignments: telling the format and the alphabet, and turning characters into codes.
#include "pleat/bio/alignment/read_alignment.h"

#include <algorithm>
#include <cctype>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "pleat/bio/alignment/alignment_formats.h"
#include "pleat/core/error.h"

namespace pleat {

namespace {

/// Throws UsageError if there is no such format.
AlignmentFormat named_format(const std::string& name) {
    const std::vector<std::string>& names = alignment_formats();
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
        throw UsageError(fmt::format("expected an alignment format ({}), found '{}'",
                                     fmt::join(names, ", "), name));
    }
    return static_cast<AlignmentFormat>(found - names.begin());
}

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
AlignmentFormat told_format(ByteSource& source) {
    for (;;) {
        std::string_view line = first_line(source);
        if (is_stockholm_header(line)) return AlignmentFormat::stockholm;
        if (line.front() == '#' || line.front() == ';') {
            source.next(line);
            continue;
        }
        if (line.front() == '>') return AlignmentFormat::fasta;
        if (is_clustal_header(line)) return AlignmentFormat::clustal;
        if (is_psicov_row(line)) return AlignmentFormat::psicov;
        throw InputError(
            source.name(), source.line(),
            fmt::format("expected an alignment (FASTA, A2M, A3M, Stockholm, CLUSTAL or PSICOV "
                        ".aln), found {}",
                        in_quotes(line)));
    }
}

/// What a source holds, and as what it is read.
struct Reading {
    TextAlignment text;
    AlignmentFormat format;
    const Alphabet* alphabet;
};

/// Reads the rows and throws unless they are an alignment. Their letters are kept within limits.
Reading checked_rows(ByteSource& source, const ReadOptions& options, Index max_kept_bytes) {
    first_line(source);  // an empty file is the same complaint in every format
    const bool tells_format = options.format.empty();
    AlignmentFormat format = tells_format ? told_format(source) : named_format(options.format);
    TextAlignment text(source, options.max_bytes, max_kept_bytes);
    switch (format) {
        case AlignmentFormat::stockholm: read_stockholm(source, text); break;
        case AlignmentFormat::clustal: read_clustal(source, text); break;
        case AlignmentFormat::psicov: read_psicov(source, text); break;
        default: read_fasta(source, text);
    }
    if (tells_format && format == AlignmentFormat::fasta)
        format = text.summary.fasta_relative(text.file);
    const bool told = options.alphabet.empty();
    const Alphabet& alphabet =
        told ? text.summary.likely_alphabet() : Alphabet::named(options.alphabet);
    text.summary.check(text.file, format, alphabet, told);
    return {std::move(text), format, &alphabet};
}

/// The row as ReadOptions::full_rows has it.
std::string full_row(const std::string& row, bool match_only) {
    std::string full;
    for (const char c : row) {
        const bool is_letter = std::isalpha(static_cast<unsigned char>(c)) != 0;
        if (match_only && is_insertion(c)) {
            if (is_letter) full += c;
        } else {
            full +=
                is_letter ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : '-';
        }
    }
    return full;
}

/// Turns characters into codes, freeing each row's text as it goes.
Alignment encoded(Reading& reading, const ReadOptions& options) {
    std::vector<TextRow>& rows = reading.text.rows;
    const bool match_only = has_match_columns(reading.format);
    const Index count = reading.text.row_count();
    const Index width = reading.text.summary.width(reading.format);
    const Alphabet& alphabet =
        options.keep_unknown ? reading.alphabet->with_unknown() : *reading.alphabet;
    Alignment alignment;
    alignment.format = alignment_formats()[static_cast<std::size_t>(reading.format)];
    alignment.alphabet = &alphabet;
    alignment.letters = Array<std::uint8_t, 2>(count, width);
    alignment.names.reserve(count);
    if (options.full_rows != nullptr) options.full_rows->clear();
    const std::uint8_t gap = alphabet.without_unknown().gap();  // and above it, what is unknown
    std::uint8_t* to = alignment.letters.data();
    for (Index n = 0; n < count; ++n) {
        bool leaves_out = false;
        for (const char c : rows[n].letters) {
            const std::uint8_t code = alphabet.code(c);
            const bool is_inserted = match_only && is_insertion(c);
            leaves_out = leaves_out || (std::isalpha(static_cast<unsigned char>(c)) != 0 &&
                                        (code >= gap || is_inserted));
            if (!is_inserted) *to++ = code;
        }
        if (leaves_out && options.full_rows != nullptr) {
            options.full_rows->resize(static_cast<std::size_t>(count));
            (*options.full_rows)[static_cast<std::size_t>(n)] =
                full_row(rows[n].letters, match_only);
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

const std::vector<std::string>& alignment_formats() {
    static const std::vector<std::string> formats = {"fasta",     "a2m",     "a3m",
                                                     "stockholm", "clustal", "psicov"};
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
