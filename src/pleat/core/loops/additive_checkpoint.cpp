// Additive checkpoint: what each rank saves, and how the files of earlier runs are merged.
#include "pleat/core/loops/additive_checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "pleat/core/error.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/ranks/deal.h"
#include "pleat/core/ranks/rank_files.h"

namespace pleat {

namespace {

// Members of a checkpoint file that this class adds to the caller's.
constexpr std::string_view kProblem = "sweep_problem", kStage = "sweep_stage",
                           kMarks = "sweep_tiles_done";

void join(std::int64_t& into, std::int64_t value) { into += value; }
void join(std::uint32_t& into, std::uint32_t value) { into += value; }
void join(double& into, double value) { into = std::max(into, value); }
void join(float& into, float value) { into += value; }

void join_ranks(Comm& comm, std::span<std::int64_t> sums) { comm.sum(sums); }
void join_ranks(Comm& comm, std::span<std::uint32_t> sums) { comm.sum(sums); }
void join_ranks(Comm& comm, std::span<double> maxima) {
    comm.raise(maxima);
    // The maximum of +0 and -0 depends on their order, so -0 becomes +0.
    for (double& value : maxima) value += 0.0;
}

/// Each element is nonzero on one rank only, so summing the bits gives its value.
void join_ranks(Comm& comm, std::span<float> values) {
    constexpr std::size_t kAtOnce = std::size_t{1} << 20;
    std::vector<std::uint32_t> bits;
    for (std::size_t first = 0; comm.size() > 1 && first < values.size(); first += kAtOnce) {
        bits.resize(std::min(kAtOnce, values.size() - first));
        std::memcpy(bits.data(), values.data() + first, 4 * bits.size());
        comm.sum(bits);
        std::memcpy(values.data() + first, bits.data(), 4 * bits.size());
    }
}

bool share_a_tile(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b) {
    for (std::size_t i = 0; i < a.size(); ++i)
        if (a[i] != 0 && b[i] != 0) return true;
    return false;
}

}  // namespace

AdditiveCheckpoint::AdditiveCheckpoint(const Context& context, std::string stage,
                                       std::string problem, Index tiles)
    : context_(context),
      stage_(std::move(stage)),
      problem_(std::move(problem)),
      done_before_(tiles),
      is_in_own_arrays_(tiles),
      clock_(context.checkpoint_seconds) {}

void AdditiveCheckpoint::add(std::string name, std::span<std::int64_t> sums) {
    values_.push_back({std::move(name), sums});
}

void AdditiveCheckpoint::add(std::string name, std::span<std::uint32_t> sums) {
    values_.push_back({std::move(name), sums});
}

void AdditiveCheckpoint::raise(std::string name, std::span<double> maxima) {
    values_.push_back({std::move(name), maxima});
}

void AdditiveCheckpoint::fill(std::string name, std::span<float> values) {
    values_.push_back({std::move(name), values});
}

Index AdditiveCheckpoint::bytes() const {
    std::size_t bytes = is_in_own_arrays_.size();
    for (const Values& values : values_)
        std::visit([&](const auto& data) { bytes += data.size_bytes(); }, values.data);
    return static_cast<Index>(bytes);
}

AdditiveCheckpoint::EarlierFile AdditiveCheckpoint::read_earlier(
    const std::filesystem::path& path) const {
    const NpzReader reader(path);
    if (reader.text(kProblem) != problem_ || reader.text(kStage) != stage_)
        throw InputError("expected the sums of the same input and options, found another's");
    EarlierFile file{path, reader.get(kMarks).as<std::uint8_t>(reader.label(kMarks))};
    if (file.marks.size() != is_in_own_arrays_.size())
        throw InputError(fmt::format("expected marks of {} tiles, found {}",
                                     is_in_own_arrays_.size(), file.marks.size()));
    for (const std::uint8_t mark : file.marks) {
        if (mark > 1) throw InputError(fmt::format("expected marks of 0 or 1, found {}", mark));
        file.count += mark;
    }
    return file;
}

void AdditiveCheckpoint::load_values(const NpzReader& reader) {
    const auto load_array = [&]<class T>(const std::string& name, std::span<T> into) {
        const std::vector<T> found = reader.get(name).as<T>(reader.label(name));
        if (found.size() != into.size())
            throw InputError(fmt::format("expected {} values of '{}', found {}", into.size(), name,
                                         found.size()));
        for (std::size_t i = 0; i < into.size(); ++i) join(into[i], found[i]);
    };
    for (const Values& values : values_)
        std::visit([&](const auto& data) { load_array(values.name, data); }, values.data);
    for (const NamedCollector& named : collectors_) named.collector->load(reader, named.name);
}

/// Returns false if a tile of the file is already loaded: the file is left over from an interrupted
/// merge. Its other tiles are recomputed.
bool AdditiveCheckpoint::load(const EarlierFile& file) {
    if (share_a_tile(file.marks, is_in_own_arrays_)) return false;
    load_values(NpzReader(file.path));
    for (std::size_t i = 0; i < is_in_own_arrays_.size(); ++i)
        is_in_own_arrays_[i] |= file.marks[i];
    return file.count > 0;
}

void AdditiveCheckpoint::load_earlier_files() {
    std::vector<EarlierFile> files;
    const std::filesystem::path mine = rank_file(context_.checkpoint, 0);
    bool is_merged = false;
    for (const std::filesystem::path& path : rank_files(context_.checkpoint)) {
        try {
            files.push_back(read_earlier(path));
        } catch (const InputError& error) {
            throw InputError(refusal(path, error));
        }
    }
    // Largest first: merged files are loaded before the files they were made from, then skipped.
    std::ranges::stable_sort(
        files, [](const EarlierFile& a, const EarlierFile& b) { return a.count > b.count; });
    for (const EarlierFile& file : files) {
        try {
            is_merged |= load(file) && file.path != mine;
        } catch (const InputError& error) {
            throw InputError(refusal(file.path, error));
        }
    }
    // The merged file must be on disk before another rank overwrites or removes its file.
    if (is_merged) save_or_report();
    if (!save_failure_.empty()) return;
    std::error_code ignored;
    for (const EarlierFile& file : files)
        if (file.path != mine) std::filesystem::remove(file.path, ignored);
}

void AdditiveCheckpoint::resume() {
    ContextRanks ranks(context_);
    run_on_first_rank(ranks.comm, [&] {
        if (!context_.checkpoint.empty()) load_earlier_files();
    });
    done_before_ = is_in_own_arrays_;
    ranks.comm.broadcast(done_before_, 0);
}

void AdditiveCheckpoint::total() {
    ContextRanks ranks(context_);
    is_total_ = true;
    for (const Values& values : values_)
        std::visit([&](const auto& data) { join_ranks(ranks.comm, data); }, values.data);
    for (const NamedCollector& named : collectors_) {
        const std::vector<std::uint8_t> own =
            ranks.comm.size() > 1 ? named.collector->bytes() : std::vector<std::uint8_t>();
        const auto all = ranks.comm.gather(own, 0);
        for (std::size_t rank = 1; rank < all.size(); ++rank) named.collector->merge(all[rank]);
    }
}

bool AdditiveCheckpoint::has(const Tile& tile) const { return done_before_.at(tile.id) != 0; }

void AdditiveCheckpoint::begin(const Tile& tile) {
    if (has(tile) || is_in_own_arrays_[tile.id] != 0 || is_adding_tile_ || is_total_)
        throw std::logic_error("a tile must be added once, before the total");
    is_adding_tile_ = true;
}

void AdditiveCheckpoint::put(const Tile& tile, View<const float, 2> output) {
    is_in_own_arrays_[tile.id] = 1;
    is_adding_tile_ = false;
    has_unsaved_tiles_ = true;
    if (clock_.is_due()) save_or_report();
}

void AdditiveCheckpoint::flush() {
    if (!has_unsaved_tiles_ || is_adding_tile_ || is_total_) return;
    // All tiles are done: a kill from here on loses no more than one between tiles.
    const bool is_complete =
        std::ranges::all_of(is_in_own_arrays_, [](std::uint8_t mark) { return mark != 0; });
    if (!is_complete || !clock_.is_recent()) save_or_report();
}

std::filesystem::path AdditiveCheckpoint::resume_file() const {
    if (context_.checkpoint.empty() || !save_failure_.empty() ||
        (is_adding_tile_ && has_unsaved_tiles_))
        return {};
    return rank_file(context_.checkpoint, context_.rank());
}

void AdditiveCheckpoint::save() {
    const std::filesystem::path path = rank_file(context_.checkpoint, context_.rank());
    require_room(path, bytes());
    NpzWriter writer(path);
    writer.add_text(kProblem, problem_);
    writer.add_text(kStage, stage_);
    writer.add(kMarks, is_in_own_arrays_.data(), {std::ssize(is_in_own_arrays_)});
    for (const Values& values : values_)
        std::visit(
            [&](const auto& data) { writer.add(values.name, data.data(), {std::ssize(data)}); },
            values.data);
    for (const NamedCollector& named : collectors_) named.collector->save(writer, named.name);
    writer.close();
}

void AdditiveCheckpoint::save_or_report() {
    has_unsaved_tiles_ = false;
    if (context_.checkpoint.empty() || !save_failure_.empty()) return;
    try {
        clock_.run([&] { save(); });
    } catch (const OutputError& error) {
        save_failure_ = error.what();
        context_.message(
            fmt::format("{}: goes on without saving its state: {}", stage_, save_failure_));
    }
}

void sum_over_tiles(const Context& context, std::string_view stage, std::span<const Tile> tiles,
                    const std::function<std::string()>& problem,
                    const std::function<void(AdditiveCheckpoint&)>& join,
                    const TileFunction& compute,
                    const std::function<void(const Tile&, View<const float, 2>)>& add) {
    AdditiveCheckpoint sums(context, std::string(stage),
                            context.checkpoint.empty() ? std::string() : problem(),
                            std::ssize(tiles));
    join(sums);
    sums.resume();
    sweep(context, stage, tiles, sums, [&](const Tile& tile, View<float, 2> output) {
        sums.compute_before_adding([&] { compute(tile, output); });
        add(tile, output);
    });
    sums.total();
}

}  // namespace pleat
