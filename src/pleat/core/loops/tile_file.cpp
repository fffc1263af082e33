// Tile file: layout, creation, and the order of writes that makes resuming safe.
#include "pleat/core/loops/tile_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>

#include "pleat/core/error.h"
#include "pleat/core/files/hash.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/hardware/memory.h"
#include "pleat/core/hardware/system.h"

namespace pleat {

namespace {

constexpr double kFlushSeconds = 1.0;
constexpr std::uint64_t kAlignment = 64;

double now() {
    const auto time = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(time).count();
}

std::uint64_t aligned(std::uint64_t offset) {
    return (offset + kAlignment - 1) / kAlignment * kAlignment;
}

std::string layout_hash(std::span<const Tile> tiles) {
    Sha256 hash;
    for (const Tile& tile : tiles) {
        for (const Block& side : tile.side) hash.field(side.first).field(side.count);
        hash.field(tile.items).field(tile.values);
    }
    return hash.hex();
}

}  // namespace

TileFile::TileFile(std::filesystem::path path, std::string_view problem,
                   std::span<const Tile> tiles)
    : path_(std::move(path)), last_flush_(now()) {
    compute_layout(problem, tiles);
    std::error_code unreadable;
    if (!std::filesystem::exists(path_, unreadable)) create();
    try {
        open_existing();
        map();
    } catch (...) {
        if (descriptor_ >= 0) ::close(descriptor_);
        throw;
    }
}

TileFile::~TileFile() {
    try {
        flush();
    } catch (const Error&) {
        // Tiles without a done mark are recomputed.
    }
    if (mapped_ != nullptr) ::munmap(const_cast<std::uint8_t*>(mapped_), bytes_);
    ::close(descriptor_);
}

void TileFile::fail(std::string_view action) const {
    throw OutputError(fmt::format("{}: {}: {}", path_.string(), action, std::strerror(errno)));
}

void TileFile::compute_layout(std::string_view problem, std::span<const Tile> tiles) {
    // The problem is hashed, so that the header's length does not depend on its text.
    header_ = fmt::format("pleat tiles 1\nproblem {}\nlayout {}\ntiles {}\n",
                          Sha256().field(problem).hex(), layout_hash(tiles), tiles.size());
    bytes_ = header_.size() + tiles.size();
    for (std::size_t i = 0; i < tiles.size(); ++i) {
        const Tile& tile = tiles[i];
        if (tile.id != static_cast<Index>(i)) throw std::logic_error("tile ids must count from 0");
        const std::uint64_t offset = aligned(bytes_);
        sections_.push_back({offset, tile.items, tile.values});
        bytes_ = offset + static_cast<std::uint64_t>(tile.items * tile.values) * sizeof(float);
    }
    done_.assign(tiles.size(), 0);
}

void TileFile::create() const {
    OutputFile file(path_);
    const std::int64_t room = free_disk_space(path_.parent_path());
    if (static_cast<std::int64_t>(bytes_) > room)
        throw OutputError(fmt::format("{}: needs {} of disk, {} are free", path_.string(),
                                      human_bytes(static_cast<std::int64_t>(bytes_)),
                                      human_bytes(room)));
    file.write(header_);
    file.write(done_.data(), done_.size());
    // Writing the last byte sets the file's length; the rest is a hole until tiles are written.
    const std::uint8_t zero = 0;
    if (bytes_ > file.position()) file.write_at(bytes_ - 1, &zero, 1);
    file.close();
}

void TileFile::open_existing() {
    const auto refuse = [&](std::string_view text) {
        throw InputError(path_.string(), 0,
                         fmt::format("{}; remove this file to start again", text));
    };
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
    if (descriptor_ < 0) fail("cannot be opened");
    struct stat info {};
    if (::fstat(descriptor_, &info) != 0) fail("cannot be opened");
    if (!S_ISREG(info.st_mode)) refuse("expected a regular file, found a folder, device or pipe");
    const auto found_bytes = static_cast<std::uint64_t>(info.st_size);
    std::string found(header_.size(), '\0');
    const ssize_t n = ::pread(descriptor_, found.data(), found.size(), 0);
    if (n != static_cast<ssize_t>(found.size()) || found != header_) {
        const bool ours = found.starts_with("pleat tiles 1\n");
        refuse(
            ours
                ? "expected tiles of the same input and options, found another's, or a part of them"
                : "expected a file of tiles, found another kind");
    }
    if (found_bytes != bytes_)
        refuse(fmt::format("expected {} bytes, found {}: it is truncated or damaged", bytes_,
                           found_bytes));
    const auto marks = static_cast<off_t>(header_.size());
    if (::pread(descriptor_, done_.data(), done_.size(), marks) !=
        static_cast<ssize_t>(done_.size()))
        fail("cannot be read");
    if (std::ranges::any_of(done_, [](std::uint8_t mark) { return mark > 1; }))
        refuse("expected marks of 0 or 1, found others: it is damaged");
}

void TileFile::map() {
    void* const mapped = ::mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, descriptor_, 0);
    if (mapped == MAP_FAILED) fail("cannot be mapped into memory");
    mapped_ = static_cast<const std::uint8_t*>(mapped);
}

bool TileFile::has(const Tile& tile) const { return done_[tile.id] != 0; }

Index TileFile::done_count() const { return std::ranges::count(done_, 1); }

void TileFile::put(const Tile& tile, View<const float, 2> output) {
    const Section& section = sections_[tile.id];
    if (output.extent(0) != section.items || output.extent(1) != section.values)
        throw std::logic_error("a tile's output has another shape than announced");
    put_bytes(tile, output.data);
}

void TileFile::put_bytes(const Tile& tile, const void* output) {
    const Section& section = sections_[tile.id];
    // Written through the descriptor: on a full disk a write into the mapping would kill the
    // process.
    if (!write_fully(descriptor_, section.offset, output, bytes(tile).size()))
        fail("writing failed");
    done_[tile.id] = 1;
    unmarked_tiles_.push_back(tile.id);
    if (now() - last_flush_ >= kFlushSeconds) flush();
}

void TileFile::flush() {
    if (unmarked_tiles_.empty()) return;
    if (!system::flush_data(descriptor_)) fail("flushing failed");
    for (const Index id : unmarked_tiles_) {
        const std::uint8_t mark = 1;
        if (!write_fully(descriptor_, header_.size() + static_cast<std::uint64_t>(id), &mark, 1))
            fail("writing failed");
    }
    unmarked_tiles_.clear();
    last_flush_ = now();
}

View<const float, 2> TileFile::output(const Tile& tile) const {
    const Section& section = sections_[tile.id];
    return {reinterpret_cast<const float*>(mapped_ + section.offset), section.items,
            section.values};
}

std::span<const std::uint8_t> TileFile::bytes(const Tile& tile) const {
    const Section& section = sections_[tile.id];
    return {mapped_ + section.offset,
            static_cast<std::size_t>(section.items * section.values) * sizeof(float)};
}

std::unique_ptr<TileFile> open_on_ranks(const Context& context, const std::filesystem::path& path,
                                        std::string_view problem, std::span<const Tile> tiles) {
    std::unique_ptr<TileFile> file;
    for (const bool is_first : {true, false})
        together(context, [&] {
            if ((context.rank() == 0) == is_first)
                file = std::make_unique<TileFile>(path, problem, tiles);
        });
    return file;
}

}  // namespace pleat
