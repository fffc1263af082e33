// Model frames, the two files: PDB line by line, mmCIF at once.
#include <fmt/format.h>

#include <set>

#include "pleat/bio/model_frames.h"
#include "pleat/bio/pdb_record.h"
#include "pleat/core/error.h"

namespace pleat {

namespace {

bool starts_with(std::string_view line, std::string_view record) {
    return line.substr(0, record.size()) == record;
}

bool is_end(std::string_view line) {
    return starts_with(line, "END") && line.find_last_not_of(" \t") == 2;
}

bool several(const std::vector<std::string>& names) {
    return std::set<std::string>(names.begin(), names.end()).size() > 1;
}

}  // namespace

PdbFrames::PdbFrames(std::unique_ptr<ByteSource> source)
    : ModelFrames(source->name()), source_(std::move(source)) {
    start();
}

/// A model that was opened and not closed is whole when it has as many atoms as the first.
void PdbFrames::check_whole(bool open, std::size_t count) {
    if (!open || count >= first_count_) return;
    throw InputError(source_->name(), source_->line(),
                     fmt::format("expected {} atoms and ENDMDL, found the end of the file after {} "
                                 "atoms (cut short)",
                                 first_count_, count));
}

bool PdbFrames::next_records(std::vector<AtomRecord>& records) {
    Complaints complaints(source_->name());
    std::vector<std::string> segments;
    std::string_view line;
    bool open = false, ended = false;
    while (!ended && source_->next(line)) {
        if (is_atom_line(line)) {
            AtomRecord atom;
            std::string segment;
            const std::string problem = parse_atom_line(line, atom, segment);
            if (!problem.empty()) complaints.add(source_->line(), problem);
            records.push_back(std::move(atom));
            segments.push_back(std::move(segment));
        } else if (starts_with(line, "MODEL ")) {
            if (!records.empty()) {
                source_->hold();
                ended = true;
            }
            open = true;
        } else if (starts_with(line, "ENDMDL") || is_end(line)) {
            if (records.empty() && open) {
                complaints.add(source_->line(), "expected a model with atoms, found none");
            }
            ended = !records.empty();
            open = false;
        }
    }
    complaints.throw_if_any();
    if (records.empty()) return false;
    if (first_count_ == 0) {
        first_count_ = records.size();
        segments_name_chains_ = several(segments);
    }
    if (!ended) check_whole(open, records.size());
    if (!segments_name_chains_) return true;
    // Simulated systems leave the chain blank; their segments tell the molecules apart.
    for (std::size_t i = 0; i < records.size(); ++i) {
        if (records[i].chain.empty()) records[i].chain = segments[i];
    }
    return true;
}

MmcifFrames::MmcifFrames(std::unique_ptr<ByteSource> source) : ModelFrames(source->name()) {
    std::string text;
    std::string_view line;
    while (source->next(line)) {
        // Empty lines stand for what was skipped, so that the parser's line numbers are the file's.
        if (text.empty() && source->line() > 1) {
            text.assign(static_cast<std::size_t>(source->line() - 1), '\n');
        }
        text += line;
        text += '\n';
    }
    read_mmcif_models(file_, text, [&](std::vector<AtomRecord>&& model) {
        for (AtomRecord& atom : model) {
            if (atom.element == "X") atom.element = guess_element(atom.name, atom.residue_name);
        }
        models_.push_back(std::move(model));
    });
    start();
}

bool MmcifFrames::next_records(std::vector<AtomRecord>& records) {
    if (models_.empty()) return false;
    records = std::move(models_.front());
    models_.pop_front();
    return true;
}

}  // namespace pleat
