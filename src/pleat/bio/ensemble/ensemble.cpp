// Ensembles: whole in memory or in a file, turned to the order of atoms, and named in errors.
#include "pleat/bio/ensemble/ensemble.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "pleat/bio/ensemble/ensemble_reader.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/loops/parallel.h"
#include "pleat/core/loops/saving.h"

namespace pleat {

std::span<const std::string_view> names_of(Pbc) {
    static constexpr std::string_view kNames[] = {"auto", "whole", "none"};
    return kNames;
}

std::span<const std::string_view> names_of(Matching) {
    static constexpr std::string_view kNames[] = {"names", "sequence"};
    return kNames;
}

InputError Ensemble::error_in(Index frame, std::string_view text) const {
    const auto at = static_cast<std::size_t>(frame);
    if (at >= origins.size()) return InputError(fmt::format("frame {}: {}", frame, text));
    return InputError(files.at(static_cast<std::size_t>(origins[at].file)), 0,
                      fmt::format("frame {}: {}", origins[at].frame, text));
}

namespace {

/// Frames as they are read: in blocks of memory, or all in a file once they do not fit.
class FrameCollector {
public:
    FrameCollector(Index atoms, const FrameOverflow* overflow)
        : atoms_(atoms),
          in_block_(std::max<Index>(1, kBlockBytes / (12 * std::max<Index>(1, atoms)))),
          overflow_(overflow) {}

    void add(View<const float, 2> frame) {
        if (blocks_.empty() || in_last_ == in_block_) begin_block();
        std::copy(frame.begin(), frame.end(), blocks_.back()[in_last_++].begin());
        ++count_;
    }

    /// Hands the frames to the ensemble.
    void finish(Ensemble& ensemble) {
        choose_file();
        if (file_) {
            write_blocks();
            file_->close();
            ensemble.xyz = Array<float, 3>(Index{0}, Index{3}, atoms_);
            ensemble.on_disk = FrameStore(overflow_->file, count_, atoms_);
            return;
        }
        ensemble.xyz = Array<float, 3>::unset(count_, 3, atoms_);
        // The system gets the blocks back one by one while they are copied, so that the coordinates
        // are never held twice.
        for (std::size_t b = 0; b < blocks_.size(); ++b) {
            const Index first = static_cast<Index>(b) * in_block_;
            const Index count = std::min(in_block_, count_ - first);
            std::copy_n(blocks_[b].begin(), count * 3 * atoms_, ensemble.xyz[first].begin());
            blocks_[b] = {};
        }
    }

private:
    static constexpr Index kBlockBytes = Index{64} << 20;

    void choose_file() {
        if (!file_ && overflow_ != nullptr && !overflow_->fits(count_, atoms_))
            file_.emplace(overflow_->file);
    }

    void begin_block() {
        choose_file();
        if (file_) write_blocks();
        if (!file_ || blocks_.empty())
            blocks_.push_back(Array<float, 3>::unset(in_block_, 3, atoms_));
        in_last_ = 0;
    }

    /// Appends the frames in memory to the file, atom by atom, and keeps the last block's memory.
    void write_blocks() {
        std::vector<float> frame(static_cast<std::size_t>(3 * atoms_));
        for (; !blocks_.empty(); blocks_.erase(blocks_.begin())) {
            const bool is_last = blocks_.size() == 1;
            const Index count = is_last ? in_last_ : in_block_;
            const Index bytes = 12 * count * atoms_;
            require_room(overflow_->file,
                         bytes + (static_cast<Index>(file_->position()) + bytes) / 10);
            for (Index n = 0; n < count; ++n) {
                const View<const float, 2> from = blocks_.front().view()[n];
                for (Index atom = 0; atom < atoms_; ++atom)
                    for (Index axis = 0; axis < 3; ++axis)
                        frame[static_cast<std::size_t>(3 * atom + axis)] = from(axis, atom);
                file_->write(frame.data(), 4 * frame.size());
            }
            if (is_last) return;
        }
    }

    Index atoms_, in_block_;
    const FrameOverflow* overflow_;
    std::vector<Array<float, 3>> blocks_;
    Index in_last_ = 0;  ///< frames in the last block
    Index count_ = 0;    ///< frames in all
    std::optional<OutputFile> file_;
};

}  // namespace

Ensemble read_ensemble(const std::vector<std::string>& sources, EnsembleOptions options,
                       const FrameOverflow* overflow) {
    EnsembleReader reader(sources, std::move(options));
    Ensemble ensemble;
    ensemble.topology = reader.topology();
    ensemble.all_atoms = reader.all_atoms();
    const Index atoms = reader.atom_count();
    FrameCollector frames(atoms, overflow);
    Array<float, 2> frame(3, atoms);
    while (reader.next(frame)) {
        frames.add(frame);
        ensemble.origins.push_back(reader.origin());
        ensemble.numbers.push_back(reader.number());
    }
    frames.finish(ensemble);
    ensemble.files = reader.files();
    ensemble.names = reader.names();
    ensemble.are_models = reader.are_models();
    ensemble.scores = reader.scores().of(ensemble.numbers);
    ensemble.is_trajectory = reader.is_trajectory();
    ensemble.notes = reader.notes();
    return ensemble;
}

Array<float, 3> atom_by_atom(const Ensemble& ensemble, std::span<const Index> atoms, int threads) {
    const Index count = atoms.empty() ? ensemble.atom_count() : static_cast<Index>(atoms.size());
    auto xyz = Array<float, 3>::unset(ensemble.frame_count(), count, 3);
    parallel_for(threads, ensemble.frame_count(), [&](Index frame, int) {
        for (Index axis = 0; axis < 3; ++axis)
            for (Index n = 0; n < count; ++n)
                xyz(frame, n, axis) = ensemble.xyz(
                    frame, axis, atoms.empty() ? n : atoms[static_cast<std::size_t>(n)]);
    });
    return xyz;
}

}  // namespace pleat
