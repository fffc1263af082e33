// mmCIF frames: the models of an mmCIF file, parsed at once.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <utility>

#include "pleat/bio/ensemble/frame_formats.h"
#include "pleat/bio/structure/coordinate_text.h"
#include "pleat/bio/structure/missing_names.h"
#include "pleat/core/files/text.h"

namespace pleat {

namespace {

/// Derives elements from atom names if the file has none or has names in its element column ("CA"
/// of ALA is not calcium). Returns how many atoms had names there.
Index take_elements_from_names(std::vector<AtomRecord>& atoms) {
    const auto is_wrong = [](const AtomRecord& atom) {
        return atom.symbol_is_name && is_common_residue(atom.residue_name);
    };
    const bool has_names = std::ranges::any_of(atoms, is_wrong);
    Index repeated = 0;
    for (AtomRecord& atom : atoms) {
        const bool is_name = has_names && atom.symbol_is_name;
        if (atom.element.empty() || is_name)
            atom.element = guess_element(atom.name, atom.residue_name);
        repeated += is_name;
    }
    return repeated;
}

/// The models of an mmCIF file, which is parsed as a whole.
class MmcifFrames : public ModelFrames {
public:
    explicit MmcifFrames(std::unique_ptr<ByteSource> source) : ModelFrames(source->name()) {
        constexpr std::size_t kMaxFromPipe = std::size_t{64} << 20;
        const std::string text = remaining_text(*source, kMaxFromPipe);
        MmcifBlock block;
        Index repeated = 0;
        read_mmcif_models(file_, text, assemblies_, block, [&](std::vector<AtomRecord>&& model) {
            repeated += take_elements_from_names(model);
            models_.push_back(std::move(model));
        });
        if (repeated > 0)
            notes_.push_back(
                {NoteKind::format,
                 fmt::format(
                     "{}: type_symbol repeats the names of {} atoms: elements taken from the names",
                     file_, repeated)});
        if (block.blocks > 1)
            notes_.push_back(
                {NoteKind::several, fmt::format("{}: {} data blocks of the same atoms read "
                                                "as models",
                                                file_, block.blocks)});
        if (block.other_blocks > 0)
            notes_.push_back(
                {NoteKind::several,
                 fmt::format(
                     "{}: {} more data block{} left out, as {} other atoms than the first; give "
                     "each a file of its own",
                     file_, block.other_blocks, block.other_blocks == 1 ? "" : "s",
                     block.other_blocks == 1 ? "it has" : "they have"),
                 {},
                 true});
        const std::array<double, 6>& cell = block.cell;
        cell_ = make_cell({cell[0], cell[1], cell[2]}, {cell[3], cell[4], cell[5]});
        connections_ = std::move(block.connections);
        start();
    }
    std::string_view format() const override { return "mmCIF"; }

protected:
    bool next_records(std::vector<AtomRecord>& records) override {
        if (models_.empty()) return false;
        records = std::move(models_.front());
        models_.pop_front();
        return true;
    }
    std::string bond_key(const AtomRecord& atom) const override { return connection_key(atom); }

private:
    std::deque<std::vector<AtomRecord>> models_;
};

}  // namespace

std::unique_ptr<FrameReader> open_mmcif_frames(std::unique_ptr<ByteSource> source) {
    return std::make_unique<MmcifFrames>(std::move(source));
}

}  // namespace pleat
