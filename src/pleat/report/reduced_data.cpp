// Reduced data: matrices as base64 of 16-bit integers, curves and labels by blocks.
#include "pleat/report/reduced_data.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "pleat/core/error.h"
#include "pleat/core/files/npy_header.h"

namespace pleat::report {

namespace {

constexpr std::uint16_t kMissing = 65535;

/// The number of frames with this many pairs; 0 if no number fits.
Index frames_of_pairs(Index pairs) {
    const auto frames = static_cast<Index>(
        std::llround((1 + std::sqrt(1.0 + 8.0 * static_cast<double>(pairs))) / 2));
    return pairs > 0 && frames * (frames - 1) / 2 == pairs ? frames : 0;
}

/// An open .npy file of distances, read piece by piece.
class DistanceFile {
public:
    explicit DistanceFile(const std::filesystem::path& path)
        : path_(path), file_(path, std::ios::binary) {
        if (!file_) throw InputError(fmt::format("{}: cannot be read", path.string()));
        constexpr std::streamsize kHead = 4096;
        std::vector<std::uint8_t> head(kHead);
        file_.read(reinterpret_cast<char*>(head.data()), kHead);
        head.resize(static_cast<std::size_t>(file_.gcount()));
        header_ = read_npy_header(head, path.string());
        if (header_.fortran_order || (header_.dtype != "<f4" && header_.dtype != "<f8"))
            throw InputError(path.string(), 0,
                             fmt::format("expected distances as <f4 or <f8 in C order, found {}",
                                         header_.dtype));
        file_.clear();
        if (std::filesystem::file_size(path) != header_.bytes + header_.data_bytes)
            throw InputError(
                path.string(), 0,
                fmt::format("expected {} bytes behind the header, found {}", header_.data_bytes,
                            std::filesystem::file_size(path) - header_.bytes));
        file_.seekg(static_cast<std::streamoff>(header_.bytes));
    }
    bool condensed() const { return header_.shape.size() == 1; }
    /// Frames along the sides of the matrix.
    std::pair<Index, Index> sides() const {
        const std::vector<Index>& shape = header_.shape;
        if (shape.size() == 2 && shape[0] > 0 && shape[1] > 0) return {shape[0], shape[1]};
        const Index frames = shape.size() == 1 ? frames_of_pairs(shape[0]) : 0;
        if (frames == 0)
            throw InputError(path_.string(), 0,
                             fmt::format("expected all pairs of frames or a matrix, found [{}]",
                                         fmt::join(shape, ", ")));
        return {frames, frames};
    }
    void read(std::vector<double>& values) {
        if (header_.element_bytes == sizeof(double)) return fill(values.data(), values.size());
        narrow_.resize(values.size());
        fill(narrow_.data(), values.size());
        std::copy(narrow_.begin(), narrow_.end(), values.begin());
    }

private:
    template <class T>
    void fill(T* values, std::size_t count) {
        const auto bytes = static_cast<std::streamsize>(count * sizeof(T));
        file_.read(reinterpret_cast<char*>(values), bytes);
        if (file_.gcount() != bytes)
            throw InputError(fmt::format("{}: cannot be read to its end", path_.string()));
    }

    std::filesystem::path path_;
    std::ifstream file_;
    NpyHeader header_;
    std::vector<float> narrow_;
};

/// Means over the blocks of a matrix. The diagonal is kept separately.
class BlockMeans {
public:
    explicit BlockMeans(const DistanceCells& cells)
        : rows_(cells.rows),
          columns_(cells.columns),
          block_(cells.block),
          is_square_(cells.frames == cells.others),
          sums_(static_cast<std::size_t>(rows_ * columns_)),
          counts_(sums_.size()) {}
    void add(Index i, Index j, double value) {
        if (is_square_ && i == j) {
            diagonal_.push_back(value);
            return;
        }
        const std::size_t cell = cell_at(i / block_, j / block_);
        sums_[cell] += value;
        ++counts_[cell];
    }
    bool is_symmetric(double self) const {
        constexpr double kRounding = 1e-4;  // of float32, and of frames with themselves
        const auto is_near = [](double a, double b) {
            return (std::isnan(a) && std::isnan(b)) ||
                   std::abs(a - b) <= kRounding * (1 + std::abs(a));
        };
        if (!is_square_) return false;
        for (const double value : diagonal_)
            if (!is_near(value, self)) return false;
        for (Index a = 0; a < rows_; ++a)
            for (Index b = a + 1; b < columns_; ++b)
                if (!is_near(mean(a, b), mean(b, a))) return false;
        return true;
    }
    /// The means of all cells; of a symmetric matrix only those on and above the diagonal.
    std::vector<double> values(bool symmetric, double self) {
        if (!symmetric)
            for (std::size_t n = 0; n < diagonal_.size(); ++n) {
                const auto a = static_cast<Index>(n) / block_;
                sums_[cell_at(a, a)] += diagonal_[n];
                ++counts_[cell_at(a, a)];
            }
        std::vector<double> values;
        for (Index a = 0; a < rows_; ++a)
            for (Index b = symmetric ? a : 0; b < columns_; ++b)
                values.push_back(symmetric && block_ == 1 && a == b ? self : mean(a, b));
        return values;
    }

private:
    std::size_t cell_at(Index a, Index b) const {
        return static_cast<std::size_t>(a * columns_ + b);
    }
    double mean(Index a, Index b) const {
        const std::size_t cell = cell_at(a, b);
        return counts_[cell] > 0 ? sums_[cell] / static_cast<double>(counts_[cell])
                                 : std::numeric_limits<double>::quiet_NaN();
    }

    Index rows_, columns_, block_;
    bool is_square_;
    std::vector<double> sums_;
    std::vector<std::int64_t> counts_;
    std::vector<double> diagonal_;
};

/// The minimum and the maximum, and all values as 16-bit steps between them.
Json encode_numbers(std::span<const double> values) {
    double min = std::numeric_limits<double>::infinity(), max = -min;
    for (const double value : values) {
        if (!std::isfinite(value)) continue;
        min = std::min(min, value);
        max = std::max(max, value);
    }
    if (min > max) min = max = 0;
    std::vector<std::uint8_t> bytes;
    bytes.reserve(2 * values.size());
    for (const double value : values) {
        std::uint16_t step = kMissing;
        if (std::isfinite(value))
            step =
                max > min
                    ? static_cast<std::uint16_t>(std::lround((value - min) / (max - min) * 65534))
                    : std::uint16_t{0};
        bytes.push_back(static_cast<std::uint8_t>(step & 255));
        bytes.push_back(static_cast<std::uint8_t>(step >> 8));
    }
    return {{"least", min}, {"most", max}, {"data", base64(bytes)}};
}

}  // namespace

std::string base64(std::span<const std::uint8_t> bytes) {
    constexpr const char* kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        const std::size_t left = std::min<std::size_t>(3, bytes.size() - at);
        std::uint32_t group = 0;
        for (std::size_t i = 0; i < 3; ++i) group = group << 8 | (i < left ? bytes[at + i] : 0U);
        for (std::size_t i = 0; i < 4; ++i)
            text += i > left ? '=' : kDigits[group >> (18 - 6 * i) & 63];
    }
    return text;
}

Json encode_symmetric(std::span<const double> upper, Index size, bool diagonal) {
    Json encoded = {{"size", size}, {"diagonal", diagonal}};
    encoded.update(encode_numbers(upper));
    return encoded;
}

Json encode_rectangle(std::span<const double> values, Index rows, Index columns) {
    Json encoded = {{"rows", rows}, {"columns", columns}};
    encoded.update(encode_numbers(values));
    return encoded;
}

DistanceCells read_distances(const std::filesystem::path& path, Index max_cells, double self) {
    DistanceFile file(path);
    DistanceCells cells;
    std::tie(cells.frames, cells.others) = file.sides();
    cells.block = (std::max(cells.frames, cells.others) + max_cells - 1) / max_cells;
    cells.rows = (cells.frames + cells.block - 1) / cells.block;
    cells.columns = (cells.others + cells.block - 1) / cells.block;
    BlockMeans means(cells);
    std::vector<double> row;
    for (Index i = 0; i < cells.frames; ++i) {
        const Index first = file.condensed() ? i + 1 : 0;
        row.resize(static_cast<std::size_t>(cells.others - first));
        file.read(row);
        for (Index j = first; j < cells.others; ++j) means.add(i, j, row[j - first]);
    }
    cells.symmetric = file.condensed() || means.is_symmetric(self);
    cells.values = means.values(cells.symmetric, self);
    return cells;
}

namespace {

void add_stretch(ReducedSteps& steps, std::int64_t label, std::int64_t length) {
    if (!steps.labels.empty() && steps.labels.back() == label) {
        steps.lengths.back() += length;
        return;
    }
    steps.labels.push_back(label);
    steps.lengths.push_back(length);
}

std::int64_t mode_of(std::span<const std::int64_t> labels) {
    std::map<std::int64_t, std::int64_t> counts;
    for (const std::int64_t label : labels) ++counts[label];
    return std::max_element(counts.begin(), counts.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
}

}  // namespace

std::string ReducedCurve::note(const std::string& item) const {
    return block == 1
               ? ""
               : fmt::format("The minimum and the maximum of every {} {} are drawn.", block, item);
}

ReducedCurve reduce_curve(std::span<const double> positions, std::span<const double> values,
                          Index max_positions) {
    const auto count = static_cast<Index>(values.size());
    if (count <= max_positions)
        return {{positions.begin(), positions.end()}, {values.begin(), values.end()}, 1};
    const Index blocks = std::max<Index>(max_positions / 2, 1);
    ReducedCurve curve;
    curve.block = (count + blocks - 1) / blocks;
    for (Index first = 0; first < count; first += curve.block) {
        const Index last = std::min(first + curve.block, count);
        Index min = first, max = first;
        for (Index n = first + 1; n < last; ++n) {
            if (std::isnan(values[n])) continue;
            if (!(values[n] >= values[min])) min = n;
            if (!(values[n] <= values[max])) max = n;
        }
        const auto add = [&](Index n) {
            curve.positions.push_back(positions[n]);
            curve.values.push_back(values[n]);
        };
        add(std::min(min, max));
        if (min != max) add(std::max(min, max));
    }
    return curve;
}

std::string ReducedSteps::note(const std::string& item) const {
    return block == 1 ? ""
                      : fmt::format("Each step is the most frequent value of {} {}.", block, item);
}

ReducedSteps reduce_steps(std::span<const std::int64_t> labels, Index max_positions) {
    ReducedSteps steps;
    for (const std::int64_t label : labels) add_stretch(steps, label, 1);
    if (static_cast<Index>(steps.labels.size()) <= max_positions) return steps;
    const auto count = static_cast<Index>(labels.size());
    steps = {};
    steps.block = (count + max_positions - 1) / max_positions;
    for (Index first = 0; first < count; first += steps.block) {
        const Index length = std::min(steps.block, count - first);
        add_stretch(steps, mode_of(labels.subspan(first, length)), length);
    }
    return steps;
}

}  // namespace pleat::report
