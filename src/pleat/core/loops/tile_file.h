// Tile file: a sweep's result on disk, which is its own checkpoint.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pleat/core/loops/sweep.h"

namespace pleat {

/// Keeps every tile's output in one file: a header with the hash of the problem and of the tiles'
/// layout, one done-byte per tile, then the outputs one after another (native float32, in the order
/// of `tiles`). A done-byte is written only after its tile has reached the disk, so a torn write is
/// never read as done. Done-bytes are written about once a second and by flush(); a kill loses the
/// tiles since then.
class TileFile : public TileSink {
public:
    /// Opens `path`, or creates it (under another name, then renamed). `tiles` have the ids 0, 1,
    /// 2,
    /// ... in order. Throws InputError with advice if the file is damaged or belongs to another
    /// problem or layout; OutputError if it cannot be created or the disk is too full.
    TileFile(std::filesystem::path path, std::string_view problem, std::span<const Tile> tiles);
    ~TileFile() override;
    TileFile(const TileFile&) = delete;
    TileFile& operator=(const TileFile&) = delete;

    bool has(const Tile& tile) const override;
    void put(const Tile& tile, View<const float, 2> output) override;
    /// put() for numbers of another type than float32; `output` has the tile's length in bytes.
    void put_bytes(const Tile& tile, const void* output);
    void flush() override;
    std::filesystem::path resume_file() const override { return path_; }

    Index done_count() const;
    bool is_complete() const { return done_count() == std::ssize(sections_); }
    /// A finished tile's output, [item, value], memory-mapped; valid while this object lives.
    View<const float, 2> output(const Tile& tile) const;
    /// The bytes of the same output.
    std::span<const std::uint8_t> bytes(const Tile& tile) const;

private:
    struct Section {
        std::uint64_t offset = 0;  ///< of the tile's output in the file
        Index items = 0, values = 0;
    };
    void compute_layout(std::string_view problem, std::span<const Tile> tiles);
    void create() const;
    void open_existing();
    void map();
    [[noreturn]] void fail(std::string_view action) const;

    std::filesystem::path path_;
    std::string header_;  ///< expected first bytes of the file
    std::vector<Section> sections_;
    std::vector<std::uint8_t> done_;     ///< 1 = in the file and, once flushed, marked there
    std::vector<Index> unmarked_tiles_;  ///< done, but not marked in the file yet
    std::uint64_t bytes_ = 0;            ///< length of the whole file
    double last_flush_ = 0.0;
    int descriptor_ = -1;
    const std::uint8_t* mapped_ = nullptr;
};

/// Opens the file `path` on every rank; the first rank creates it if it does not exist. A
/// collective call; throws on every rank if any cannot open the file.
std::unique_ptr<TileFile> open_on_ranks(const Context& context, const std::filesystem::path& path,
                                        std::string_view problem, std::span<const Tile> tiles);

}  // namespace pleat
