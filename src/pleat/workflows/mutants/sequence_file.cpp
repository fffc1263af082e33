// Sequence file: reading records of any lengths.
#include "pleat/workflows/mutants/sequence_file.h"

#include <utility>

#include "pleat/bio/alignment/text_alignment.h"
#include "pleat/bio/input/byte_source.h"

namespace pleat::mutants {

namespace {

SequenceFile read_records(ByteSource& source) {
    TextAlignment text(source, ByteSource::kMaxBytes, TextAlignment::kKeepAll);
    read_fasta(source, text, false);
    SequenceFile file{.source = source.name(),
                      .names = {},
                      .rows = {},
                      .lines = {},
                      .notes = with_source(std::move(text.notes), source.name())};
    for (TextRow& row : text.rows) {
        file.names.push_back(std::move(row.name));
        file.rows.push_back(std::move(row.letters));
        file.lines.push_back(row.line);
    }
    return file;
}

}  // namespace

SequenceFile read_sequences(const std::filesystem::path& path) {
    ByteSource source(path);
    return read_records(source);
}

SequenceFile parse_sequences(const std::string& name, std::string_view bytes) {
    ByteSource source(name, bytes);
    return read_records(source);
}

}  // namespace pleat::mutants
