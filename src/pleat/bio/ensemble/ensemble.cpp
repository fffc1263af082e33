// Ensembles: whole in memory or in a file, the atoms that files share, ranges of frames, and names
// in errors.
#include "pleat/bio/ensemble/ensemble.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <utility>

#include "pleat/bio/ensemble/ensemble_files.h"
#include "pleat/bio/ensemble/ensemble_reader.h"
#include "pleat/bio/ensemble/frame_reader.h"
#include "pleat/bio/structure/atom_match.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/files/text.h"
#include "pleat/core/hardware/system.h"
#include "pleat/core/loops/parallel.h"

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
    return InputError(files.at(origins[at].file), 0,
                      fmt::format("frame {}: {}", origins[at].frame, text));
}

namespace {

/// Collects frames in blocks of memory or, once they do not fit, all in a file.
class FrameCollector {
public:
    FrameCollector(Index atoms, const FrameOverflow* overflow)
        : atoms_(atoms),
          in_block_(std::max<Index>(1, kBlockBytes / (12 * std::max<Index>(1, atoms)))),
          overflow_(overflow) {}

    /// Whether the next frame needs begin_block().
    bool is_full() const { return blocks_.empty() || in_last_ == in_block_; }
    /// The place of the next frame [axis, atom], which add() adds.
    View<float, 2> place() { return blocks_.back().view()[in_last_]; }
    void add() {
        ++in_last_;
        ++count_;
    }

    /// Makes room for frames. All frames that were added must be set.
    void begin_block() {
        choose_file();
        if (file_) write_blocks();
        if (!file_ || blocks_.empty()) blocks_.push_back(make_array(in_block_, atoms_));
        in_last_ = 0;
    }

    /// Hands the frames to the ensemble.
    void finish(Ensemble& ensemble, int threads) {
        choose_file();
        if (file_) {
            write_blocks();
            file_->close();
            ensemble.xyz = Array<float, 3>(Index{0}, Index{3}, atoms_);
            ensemble.on_disk = FrameStore(overflow_->file, count_, atoms_);
            return;
        }
        ensemble.xyz = make_array(count_, atoms_);
        // Blocks are freed one by one while they are copied, so that coordinates are never in
        // memory twice.
        float* to = ensemble.xyz.data();
        for (std::size_t b = 0; b < blocks_.size(); ++b) {
            constexpr Index kPieces = 16;  // larger than a page
            const Index frames = b + 1 < blocks_.size() ? in_block_ : in_last_;
            const auto edge = [&](Index piece) { return frames * 3 * atoms_ * piece / kPieces; };
            parallel_for(threads, kPieces, [&](Index piece, int) {
                std::copy(blocks_[b].data() + edge(piece), blocks_[b].data() + edge(piece + 1),
                          to + edge(piece));
            });
            to += edge(kPieces);
            blocks_[b] = {};
        }
    }

private:
    static constexpr Index kBlockBytes = Index{64} << 20;

    void choose_file() {
        if (!file_ && overflow_ != nullptr && !overflow_->fits(count_, atoms_))
            file_.emplace(overflow_->file);
    }

    static Array<float, 3> make_array(Index frames, Index atoms) {
        auto array = Array<float, 3>::unset(frames, 3, atoms);
        system::prefer_large_pages(array.data(), static_cast<std::int64_t>(array.bytes()));
        return array;
    }

    /// Appends the frames in memory to the file, atom by atom, and keeps the last block's memory.
    void write_blocks() {
        std::vector<float> frame(3 * atoms_);
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
                        frame[3 * atom + axis] = from(axis, atom);
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

/// Frames that one thread fetches while others finish those of the batch before.
struct Batch {
    std::vector<FetchedFrame> frames;  ///< `count` of them, and some of earlier batches
    Index count = 0;
    bool is_last = false;
    std::exception_ptr problem;  ///< of the frame after them
};

/// Fetches up to `max` frames, up to the end of the block.
void fetch(EnsembleReader& reader, Index max, FrameCollector& frames, Batch& batch,
           Ensemble& ensemble) {
    batch.count = 0;
    try {
        while (batch.count < max && !frames.is_full()) {
            if (batch.count == std::ssize(batch.frames)) batch.frames.emplace_back();
            // Makes the page exist: two threads that touch a new one would both fill it with zeros.
            *frames.place().data = 0;
            if (!reader.fetch(batch.frames[batch.count], frames.place())) {
                batch.is_last = true;
                return;
            }
            frames.add();
            ensemble.origins.push_back(reader.origin());
            ensemble.numbers.push_back(reader.number());
            ++batch.count;
        }
    } catch (...) {
        batch.problem = std::current_exception();
        batch.is_last = true;
    }
}

/// Reads all frames. An error is that of the first frame that has one, for any number of threads.
void read_frames(EnsembleReader& reader, int threads, FrameCollector& frames, Ensemble& ensemble) {
    constexpr int kMaxThreads = 16;  // more would wait for the thread that fetches
    threads = std::clamp(threads, 1, kMaxThreads);
    // Threads wait for one another after each batch.
    constexpr Index kMaxFrames = 4096, kBytes = Index{16} << 20;
    const Index bytes = 12 * std::max<Index>(1, reader.all_atoms()->atom_count());
    const Index max_frames = std::clamp<Index>(kBytes / bytes, 1, kMaxFrames);
    const Index in_piece = std::max<Index>(1, max_frames / 64);
    std::vector<FrameScratch> scratch;
    Batch batches[2];
    for (int turn = 0;; turn = 1 - turn) {
        Batch &now = batches[turn], &after = batches[1 - turn];
        const bool are_finished =
            std::all_of(now.frames.begin(), now.frames.begin() + now.count,
                        [](const FetchedFrame& frame) { return frame.is_finished; });
        if (!are_finished) scratch.resize(threads);
        for (FrameScratch& one : scratch) reader.update(one);
        const Index pieces = are_finished ? 0 : (now.count + in_piece - 1) / in_piece;
        parallel_for(threads, 1 + pieces, [&](Index i, int thread) {
            if (i == 0 && !now.is_last) fetch(reader, max_frames, frames, after, ensemble);
            for (Index n = (i - 1) * in_piece; i > 0 && n < std::min(i * in_piece, now.count); ++n)
                if (!now.frames[n].is_finished) reader.finish(now.frames[n], scratch[thread]);
        });
        if (now.problem) std::rethrow_exception(now.problem);
        if (now.is_last) break;
        if (after.count == 0 && !after.is_last) frames.begin_block();
    }
    for (FrameScratch& one : scratch) reader.update(one);
}

}  // namespace

Ensemble read_ensemble(const std::vector<std::string>& sources, EnsembleOptions options,
                       const FrameOverflow* overflow) {
    const int threads = options.threads;
    EnsembleReader reader(sources, std::move(options));
    Ensemble ensemble;
    ensemble.topology = reader.topology();
    ensemble.all_atoms = reader.all_atoms();
    FrameCollector frames(reader.atom_count(), overflow);
    read_frames(reader, threads, frames, ensemble);
    frames.finish(ensemble, threads);
    ensemble.files = reader.files();
    ensemble.names = reader.names();
    ensemble.are_models = reader.are_models();
    ensemble.scores = reader.scores().of(ensemble.numbers);
    ensemble.is_trajectory = reader.is_trajectory();
    ensemble.notes = reader.notes();
    return ensemble;
}

Array<float, 3> atom_by_atom(const Ensemble& ensemble, std::span<const Index> atoms, int threads) {
    const Index count = atoms.empty() ? ensemble.atom_count() : std::ssize(atoms);
    auto xyz = Array<float, 3>::unset(ensemble.frame_count(), count, 3);
    parallel_for(threads, ensemble.frame_count(), [&](Index frame, int) {
        for (Index axis = 0; axis < 3; ++axis)
            for (Index n = 0; n < count; ++n)
                xyz(frame, n, axis) = ensemble.xyz(frame, axis, atoms.empty() ? n : atoms[n]);
    });
    return xyz;
}

namespace {

/// Sets `number` unless `text` is empty; false for text that is not a number.
bool parse_part(std::string_view text, Index& number) {
    return text.empty() || parse_number(text, number);
}

/// Whether the range is empty for every number of frames.
bool is_empty(const FrameRange& range) {
    return (range.first < 0) == (range.last < 0) && range.first >= range.last;
}

}  // namespace

FrameRange FrameRange::resolved(Index count) const {
    const auto from_start = [&](Index number) {
        return number < 0 ? std::max<Index>(0, number + count) : number;
    };
    return {from_start(first), from_start(last), step};
}

FrameRange parse_frame_range(std::string_view text) {
    const auto refuse = [&] {
        throw UsageError(fmt::format(
            "expected frames as first:last:step, counted from 0 and without the last, such as 0:10 "
            "for the first ten or -10: for the last ten; found '{}'",
            text));
    };
    FrameRange range;
    Index* const parts[] = {&range.first, &range.last, &range.step};
    std::size_t count = 0;
    std::string_view rest = text;
    for (;; ++count) {
        if (count == 3) refuse();
        const std::size_t colon = rest.find(':');
        if (!parse_part(rest.substr(0, colon), *parts[count])) refuse();
        if (colon == std::string_view::npos) break;
        rest.remove_prefix(colon + 1);
    }
    if (text.empty() || range.step < 1) refuse();
    const bool is_one_frame = count == 0;
    if (is_one_frame) range.last = range.first == -1 ? FrameRange::kEnd : range.first + 1;
    if (is_empty(range))
        throw UsageError(
            fmt::format("expected a range of frames, found '{}', which has none: ranges leave out "
                        "their last frame",
                        text));
    return range;
}

namespace {

Note note_of(const SequenceMatch& match, const Topology& wanted, const Topology& other) {
    constexpr double kDoubtful = 0.5;  // random sequences of similar length reach 0.3
    return {
        NoteKind::matching,
        fmt::format(
            "{}: chains {} by sequence, {} of {} residues in common with the {} of {}, "
            "identity {:.2f}{}",
            other.source.string(), match.pairs, match.residues, match.of_other,
            match.residues_of_wanted, wanted.source.string(), match.identity(),
            match.chains_paired_by_order ? "; chains of one sequence paired in their order" : ""),
        match.chains_paired_by_order ? "--symmetry chains" : "", match.identity() < kDoubtful};
}

}  // namespace

std::shared_ptr<const CommonAtoms> find_common_atoms(const std::vector<std::string>& sources,
                                                     const std::string& topology,
                                                     const std::string& assembly) {
    constexpr std::size_t kMaxNotes = 5;
    auto common = std::make_shared<CommonAtoms>();
    if (!topology.empty())
        common->all = std::make_shared<Topology>(read_topology(topology, nullptr, assembly));
    Notes notes;
    std::vector<std::uint8_t> is_common;
    for (const std::string& file : list_ensemble_files(sources).paths) {
        const std::unique_ptr<FrameReader> reader = open_frames(file);
        if (!assembly.empty()) reader->choose_assembly(assembly);
        if (common->all == nullptr) common->all = reader->topology();
        if (common->all == nullptr || !common->all->named)
            throw InputError(file, 0,
                             "expected atoms with names to match by sequence, found coordinates "
                             "only: give --topology");
        if (reader->topology() == nullptr) continue;  // a trajectory
        const SequenceMatch match = match_by_sequence(*common->all, *reader->topology());
        if (!match.is_plain) notes.push_back(note_of(match, *common->all, *reader->topology()));
        std::vector<std::uint8_t> found(common->all->atoms.size());
        for (const Index atom : match.atoms)
            if (atom >= 0) found[atom] = 1;
        if (is_common.empty()) is_common.assign(found.size(), 1);
        for (std::size_t atom = 0; atom < found.size(); ++atom) is_common[atom] &= found[atom];
    }
    is_common.resize(common->all->atoms.size(), is_common.empty() ? 1 : 0);
    for (Index atom = 0; atom < common->all->atom_count(); ++atom)
        if (is_common[atom] != 0) common->atoms.push_back(atom);
    if (common->atoms.empty())
        throw InputError(sources.front(), 0, "expected atoms that all files have, found none");
    if (notes.size() > kMaxNotes) {
        const std::size_t others = notes.size() - kMaxNotes;
        notes.resize(kMaxNotes);
        notes.push_back({NoteKind::matching, fmt::format("and {} more files so", others)});
    }
    notes.push_back(
        {NoteKind::matching,
         fmt::format("matched by sequence: {} of {} atoms of {} are used", common->atoms.size(),
                     common->all->atom_count(), common->all->source.string())});
    common->notes = std::move(notes);
    return common;
}

/// An open file.
class FrameStore::File {
public:
    File(const std::filesystem::path& path, Index bytes)
        : path_(path.string()), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
        if (descriptor_ < 0) fail(std::strerror(errno));
        struct stat info {};
        const bool has_size = ::fstat(descriptor_, &info) == 0;
        if (has_size && info.st_size == bytes) return;
        ::close(descriptor_);
        throw InputError(path_, 0, fmt::format("expected {} bytes, found {}", bytes, info.st_size));
    }
    ~File() { ::close(descriptor_); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    void read(Index offset, Index bytes, void* to) const {
        const ssize_t n = read_at(descriptor_, offset, to, static_cast<std::size_t>(bytes));
        if (n < bytes) fail(n < 0 ? std::strerror(errno) : "it was cut short");
    }

private:
    [[noreturn]] void fail(const char* reason) const {
        throw InputError(path_, 0, fmt::format("cannot read: {}", reason));
    }
    std::string path_;
    int descriptor_;
};

FrameStore::FrameStore(const std::filesystem::path& file, Index frames, Index atoms)
    : shape_(nullptr, frames, atoms, Index{3}),
      file_(std::make_shared<const File>(file, 12 * frames * atoms)) {}

void FrameStore::read(Index first, Index count, float* to) const {
    if (is_on_disk())
        file_->read(4 * first, 4 * count, to);
    else
        std::copy_n(shape_.data + first, count, to);
}

Array<float, 2> FrameStore::frame(Index frame) const {
    auto xyz = Array<float, 2>::unset(atom_count(), Index{3});
    read(frame * xyz.size(), xyz.size(), xyz.data());
    return xyz;
}

}  // namespace pleat
