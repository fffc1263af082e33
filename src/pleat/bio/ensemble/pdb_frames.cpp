// PDB frames: the models of a PDB file, read one at a time.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

#include "pleat/bio/ensemble/frame_formats.h"
#include "pleat/bio/structure/coordinate_text.h"
#include "pleat/core/files/text.h"

namespace pleat {

namespace {

constexpr std::size_t kMaxRemarks = 100'000;

bool is_end(std::string_view line) {
    return line.starts_with("END") && line.find_last_not_of(" \t") == 2;
}

/// Sets `lines` to the lines after the last model's atoms, from the end of a text. Returns false if
/// the whole text is such lines and does not contain the beginning of the file.
bool find_last_lines(std::string_view text, bool has_begin, std::vector<std::string>& lines) {
    lines.clear();
    while (!text.empty()) {
        if (text.back() == '\n') text.remove_suffix(1);
        const std::size_t end = text.rfind('\n');
        const bool is_whole = end != std::string_view::npos || has_begin;
        if (!is_whole) return false;
        const std::string_view line = text.substr(end == std::string_view::npos ? 0 : end + 1);
        if (line.starts_with("ATOM") || line.starts_with("HETATM") || line.starts_with("TER") ||
            line.starts_with("ANISOU") || line.starts_with("ENDMDL"))
            return true;
        lines.emplace_back(line);
        text.remove_suffix(line.size());
    }
    return has_begin;
}

/// The lines after the last model of an uncompressed file; none if they cannot be read.
std::vector<std::string> last_lines(const std::filesystem::path& file) {
    constexpr std::uintmax_t kFirstStep = 1 << 16, kMaxStep = 1 << 30;
    std::vector<std::string> lines;
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(file, error);
    std::ifstream stream(file, std::ios::binary);
    for (std::uintmax_t step = kFirstStep; !error && step <= kMaxStep; step *= 8) {
        std::string text(std::min(step, size), ' ');
        stream.seekg(static_cast<std::streamoff>(size - text.size()));
        if (!stream.read(text.data(), static_cast<std::streamsize>(text.size()))) return {};
        if (find_last_lines(text, text.size() == size, lines)) break;
    }
    return lines;
}

/// The same of a packed file, which is read to its end, unless it is large.
std::vector<std::string> last_lines_of_packed(const std::filesystem::path& file) {
    constexpr std::uintmax_t kMaxPacked = std::uintmax_t{64} << 20;
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(file, error);
    if (error || size > kMaxPacked) return {};
    std::vector<std::string> lines;
    ByteSource source(file, Index{1} << 34);
    try {
        for (std::string_view line; source.next(line);) {
            if (line.starts_with("CONECT")) lines.emplace_back(line);
            if (is_atom_line(line)) lines.clear();
        }
    } catch (const InputError&) {
        return {};  // the error is reported when the frame is read
    }
    return lines;
}

bool is_packed(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    const int first = stream.get(), second = stream.get();
    return (first == 0x1f && second == 0x8b) || (first == 0x28 && second == 0xb5);
}

/// Reads the models of a PDB file one at a time.
class PdbFrames : public ModelFrames {
public:
    /// `file`: the path of the source, whose end is searched for bonds; empty if there is none.
    explicit PdbFrames(std::unique_ptr<ByteSource> source, std::filesystem::path file = {});
    std::string_view format() const override { return "PDB"; }

protected:
    bool next_records(std::vector<AtomRecord>& records) override {
        Complaints complaints(source_->name());
        std::vector<PdbFields> fields;
        std::string_view line;
        bool open = false, ended = false, has_atoms = false;
        std::vector<std::int64_t> problems;  // their lines
        AtomLines lines;
        const auto parse_lines = [&] {
            problems = lines.parse(records, fields, complaints);
            for (const AtomRecord& atom : records) has_long_serials_ |= atom.serial[0] == '\0';
        };
        while (!ended && source_->next(line)) {
            if (line.starts_with("REMARK 350")) {
                if (first_count_ == 0 && remarks_.size() < kMaxRemarks) remarks_.emplace_back(line);
            } else if (is_atom_line(line)) {
                // Limits the memory that endless text from a pipe can use.
                source_->limit_pipe(static_cast<Index>(records.size() + lines.size()), 500'000,
                                    "models of at most {} atoms");
                lines.add(line, source_->line());
                has_atoms = true;
            } else if (line.starts_with("MODEL ")) {
                if (has_atoms) {
                    source_->hold();
                    ended = true;
                }
                open = true;
            } else if (line.starts_with("ENDMDL") || is_end(line)) {
                if (!has_atoms && open && !std::exchange(noted_empty_, true))
                    notes_.push_back(
                        {NoteKind::frames,
                         fmt::format("{}: passed over models without atoms, such as that "
                                     "which ends in line {}",
                                     file_, source_->line())});
                ended = has_atoms;
                open = false;
            } else if (line.starts_with("CRYST1")) {
                cell_ = parse_cell(line);
            } else if (first_count_ == 0 && line.starts_with("CONECT")) {
                if (lines.size() > 0) parse_lines();
                add_connections(line);
            }
        }
        if (lines.size() > 0) parse_lines();
        if (complaints.empty()) dialect_.complete(records, fields, complaints);
        try {
            complaints.throw_if_any();
        } catch (const InputError& error) {
            // Only the last line is damaged: the file was cut within it.
            const bool is_cut = first_count_ > 0 && open && !ended && problems.size() == 1;
            if (is_cut && problems.back() == source_->line()) throw CutShort(error.what());
            throw;
        }
        if (records.empty()) return false;
        if (first_count_ == 0) {
            first_count_ = records.size();
            if (ended) read_connections();
            assemblies_ = pdb_assemblies(remarks_);
            remarks_ = {};
            for (const Note& note : with_source(dialect_.notes(), file_)) notes_.push_back(note);
        }
        if (!ended) check_whole(open, records.size());
        return true;
    }
    std::string bond_key(const AtomRecord& atom) const override {
        return {atom.serial.data(), static_cast<std::size_t>(std::ranges::find(atom.serial, '\0') -
                                                             atom.serial.begin())};
    }

private:
    void add_connections(std::string_view line) {
        constexpr std::size_t kMaxConnections = 10'000'000;
        const auto serial = [&](std::size_t first) {
            return std::string(first < line.size() ? trimmed(line.substr(first, 5)) : "");
        };
        // Serial numbers of six digits leave no blanks between them.
        if (has_long_serials_ && line.substr(0, 16).find(' ', 6) == std::string_view::npos) return;
        for (const std::size_t first : {11, 16, 21, 26})
            if (std::string other = serial(first);
                !other.empty() && connections_.size() < kMaxConnections)
                connections_.push_back({serial(6), std::move(other)});
    }
    /// Reads the CONECT records between the first model and the next.
    void read_connections() {
        std::string_view line;
        while (source_->next(line)) {
            if (line.starts_with("CONECT")) {
                add_connections(line);
            } else if (is_atom_line(line) || line.starts_with("MODEL ") ||
                       line.starts_with("CRYST1")) {
                source_->hold();
                return read_last_connections();
            }
        }
    }
    /// Reads the CONECT records after the last model, which apply to all models: the first model is
    /// used before the file's end is read.
    void read_last_connections() {
        if (file_of_source_.empty() || source_->is_from_pipe() || !connections_.empty()) return;
        for (const std::string& line : is_packed(file_of_source_)
                                           ? last_lines_of_packed(file_of_source_)
                                           : last_lines(file_of_source_))
            if (line.starts_with("CONECT")) add_connections(line);
    }
    /// A model without ENDMDL is complete if it has as many atoms as the first model.
    void check_whole(bool open, std::size_t count) {
        if (!open || count >= first_count_) return;
        throw CutShort(
            source_->name(), source_->line(),
            fmt::format("expected {} atoms and ENDMDL, found the end of the file after {} "
                        "atoms (cut short)",
                        first_count_, count));
    }

    std::unique_ptr<ByteSource> source_;
    std::filesystem::path file_of_source_;
    std::size_t first_count_ = 0;       // atom records of the first model
    std::vector<std::string> remarks_;  // about assemblies; until the first model is read
    PdbDialect dialect_;
    bool has_long_serials_ = false, noted_empty_ = false;
};

PdbFrames::PdbFrames(std::unique_ptr<ByteSource> source, std::filesystem::path file)
    : ModelFrames(source->name()), source_(std::move(source)), file_of_source_(std::move(file)) {
    start();
}

}  // namespace

std::unique_ptr<FrameReader> open_pdb_frames(std::unique_ptr<ByteSource> source,
                                             const std::filesystem::path& file) {
    return std::make_unique<PdbFrames>(std::move(source), file);
}

}  // namespace pleat
