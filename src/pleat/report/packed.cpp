// Packing: base64, 16-bit matrices and block means of distance files.
#include "pleat/report/packed.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

#include "pleat/core/error.h"
#include "pleat/core/npy_header.h"

namespace pleat::report {

namespace {

constexpr std::uint16_t kMissing = 65535;

/// The number of frames whose pairs are this many; 0 where there is none.
Index frames_of_pairs(Index pairs) {
    const auto frames = static_cast<Index>(std::llround((1 + std::sqrt(1.0 + 8.0 * static_cast<double>(pairs))) / 2));
    return pairs > 0 && frames * (frames - 1) / 2 == pairs ? frames : 0;
}

/// An open .npy file of distances, read by runs of elements.
class DistanceFile {
public:
    explicit DistanceFile(const std::filesystem::path& path) : path_(path), file_(path, std::ios::binary) {
        if (!file_) throw InputError(fmt::format("{}: cannot be read", path.string()));
        constexpr std::streamsize kHead = 4096;
        std::vector<std::uint8_t> head(kHead);
        file_.read(reinterpret_cast<char*>(head.data()), kHead);
        head.resize(static_cast<std::size_t>(file_.gcount()));
        header_ = read_npy_header(head, path.string());
        if (header_.fortran_order || (header_.dtype != "<f4" && header_.dtype != "<f8"))
            throw InputError(path.string(), 0,
                             fmt::format("expected distances as <f4 or <f8 in C order, found {}", header_.dtype));
        file_.clear();
        if (std::filesystem::file_size(path) != header_.bytes + header_.data_bytes)
            throw InputError(path.string(), 0,
                             fmt::format("expected {} bytes behind the header, found {}", header_.data_bytes,
                                         std::filesystem::file_size(path) - header_.bytes));
        file_.seekg(static_cast<std::streamoff>(header_.bytes));
    }
    bool condensed() const { return header_.shape.size() == 1; }
    Index frames() const {
        const std::vector<Index>& shape = header_.shape;
        const Index frames = shape.size() == 1 ? frames_of_pairs(shape[0])
                             : shape.size() == 2 && shape[0] == shape[1] ? shape[0] : 0;
        if (frames == 0)
            throw InputError(path_.string(), 0,
                             fmt::format("expected all pairs of frames or a square matrix, found [{}]",
                                         fmt::join(shape, ", ")));
        return frames;
    }
    void read(std::vector<double>& values) {
        if (header_.element_bytes == sizeof(double)) return take(values.data(), values.size());
        narrow_.resize(values.size());
        take(narrow_.data(), values.size());
        std::copy(narrow_.begin(), narrow_.end(), values.begin());
    }

private:
    template <class T>
    void take(T* values, std::size_t count) {
        const auto bytes = static_cast<std::streamsize>(count * sizeof(T));
        file_.read(reinterpret_cast<char*>(values), bytes);
        if (file_.gcount() != bytes) throw InputError(fmt::format("{}: cannot be read to its end", path_.string()));
    }

    std::filesystem::path path_;
    std::ifstream file_;
    NpyHeader header_;
    std::vector<float> narrow_;
};

}  // namespace

std::string base64(std::span<const std::uint8_t> bytes) {
    constexpr const char* kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        const std::size_t left = std::min<std::size_t>(3, bytes.size() - at);
        std::uint32_t group = 0;
        for (std::size_t i = 0; i < 3; ++i) group = group << 8 | (i < left ? bytes[at + i] : 0U);
        for (std::size_t i = 0; i < 4; ++i) text += i > left ? '=' : kDigits[group >> (18 - 6 * i) & 63];
    }
    return text;
}

Json pack_symmetric(std::span<const double> upper, Index size, bool diagonal) {
    double least = std::numeric_limits<double>::infinity(), most = -least;
    for (const double value : upper) {
        if (!std::isfinite(value)) continue;
        least = std::min(least, value);
        most = std::max(most, value);
    }
    if (least > most) least = most = 0;
    std::vector<std::uint8_t> bytes;
    bytes.reserve(2 * upper.size());
    for (const double value : upper) {
        std::uint16_t packed = kMissing;
        if (std::isfinite(value))
            packed = most > least
                         ? static_cast<std::uint16_t>(std::lround((value - least) / (most - least) * 65534))
                         : std::uint16_t{0};
        bytes.push_back(static_cast<std::uint8_t>(packed & 255));
        bytes.push_back(static_cast<std::uint8_t>(packed >> 8));
    }
    return {{"size", size}, {"diagonal", diagonal}, {"least", least}, {"most", most}, {"data", base64(bytes)}};
}

DistanceCells read_distances(const std::filesystem::path& path, Index most) {
    DistanceFile file(path);
    DistanceCells cells;
    cells.frames = file.frames();
    cells.block = (cells.frames + most - 1) / most;
    cells.size = (cells.frames + cells.block - 1) / cells.block;
    const auto count = static_cast<std::size_t>(cells.size * (cells.size + 1) / 2);
    cells.upper.assign(count, 0);
    std::vector<std::int64_t> pairs(count, 0);
    std::vector<double> row;
    for (Index i = 0; i < cells.frames; ++i) {
        const Index first = file.condensed() ? i + 1 : 0;
        row.resize(static_cast<std::size_t>(cells.frames - first));
        file.read(row);
        const Index a = i / cells.block;
        const Index start = a * cells.size - a * (a - 1) / 2 - a;  // of cell [a, 0], were it kept
        for (Index j = i + 1; j < cells.frames; ++j) {
            const auto cell = static_cast<std::size_t>(start + j / cells.block);
            cells.upper[cell] += row[static_cast<std::size_t>(j - first)];
            ++pairs[cell];
        }
    }
    for (std::size_t cell = 0; cell < count; ++cell)
        cells.upper[cell] = pairs[cell] > 0 ? cells.upper[cell] / static_cast<double>(pairs[cell])
                                            : std::numeric_limits<double>::quiet_NaN();
    // With a frame a cell the diagonal is a frame beside itself.
    if (cells.block == 1)
        for (Index a = 0, at = 0; a < cells.size; at += cells.size - a, ++a)
            cells.upper[static_cast<std::size_t>(at)] = 0;
    return cells;
}

}  // namespace pleat::report
