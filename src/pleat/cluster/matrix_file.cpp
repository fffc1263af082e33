// Matrix file: mapping an .npy, checking its values, and reading rows of either layout.
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

#include "pleat/cluster/cluster.h"
#include "pleat/cluster/estimate.h"
#include "pleat/core/error.h"
#include "pleat/core/files/hash.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/npy_header.h"

namespace pleat::cluster {

namespace {

constexpr Index kBandPairs = 500'000;
constexpr Index kMaxItems = 2'000'000'000;

/// A file that is mapped into memory, read-only.
class MappedFile {
public:
    explicit MappedFile(const std::filesystem::path& path) {
        const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        struct stat info {};
        if (file < 0 || ::fstat(file, &info) != 0) {
            const int reason = errno;
            if (file >= 0) ::close(file);
            refuse_too_many_open_files(path, reason);
            throw InputError(path.string(), 0,
                             fmt::format("cannot be read: {}", std::strerror(reason)));
        }
        size_ = S_ISREG(info.st_mode) ? static_cast<std::size_t>(info.st_size) : 0;
        void* const at =
            size_ > 0 ? ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file, 0) : MAP_FAILED;
        const int reason = errno;
        ::close(file);
        if (at == MAP_FAILED)
            throw InputError(path.string(), 0,
                             size_ == 0 ? std::string("expected an .npy file, found no bytes")
                                        : fmt::format("cannot be read: {}", std::strerror(reason)));
        bytes_ = static_cast<const std::uint8_t*>(at);
    }
    ~MappedFile() { ::munmap(const_cast<std::uint8_t*>(bytes_), size_); }
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    const std::uint8_t* bytes() const { return bytes_; }
    std::size_t size() const { return size_; }

private:
    const std::uint8_t* bytes_ = nullptr;
    std::size_t size_ = 0;
};

NpyHeader header_of(const MappedFile& file, const std::string& name) {
    constexpr std::size_t kMaxHeader = 1 << 16;
    const std::vector<std::uint8_t> start(file.bytes(),
                                          file.bytes() + std::min(file.size(), kMaxHeader));
    return read_npy_header(start, name);
}

/// M of M (M - 1) / 2 pairs.
std::optional<Index> items_of(Index pairs) {
    const auto guess =
        static_cast<Index>((1.0 + std::sqrt(1.0 + 8.0 * static_cast<double>(pairs))) / 2);
    for (Index count = std::max<Index>(1, guess - 1); count <= guess + 1; ++count)
        if (count * (count - 1) / 2 == pairs) return count;
    return std::nullopt;
}

template <class Real>
class Matrix final : public PairSource {
public:
    /// `file` keeps the values alive; null if the caller does.
    Matrix(std::shared_ptr<const MappedFile> file, const Real* values, Index count, bool is_square,
           const std::string& name)
        : file_(std::move(file)), values_(values), count_(count), is_square_(is_square) {
        is_square_ ? check_square(name) : check_condensed(name);
    }

    Index count() const override { return count_; }

    void band(Block rows, float* values) const override {
        for (Index i = rows.first; i < rows.first + rows.count; ++i) {
            const Real* const from = later(i);
            for (Index n = 0; n < count_ - 1 - i; ++n) *values++ = static_cast<float>(from[n]);
        }
    }

    Index band_rows() const override {
        return std::max<Index>(1, kBandPairs / std::max<Index>(count_, 1));
    }

    void among(std::span<const Index> items, const BandVisitor& visit) const override {
        visit_among(items, visit, [&](Index i, Index j) { return at(i, j); });
    }

    void rows(std::span<const Index> items, float* values) const override {
        const auto chosen = static_cast<Index>(items.size());
        for (Index j = 0; j < count_; ++j)
            for (Index n = 0; n < chosen; ++n)
                values[n * count_ + j] = static_cast<float>(at(items[n], j));
    }

    bool is_stored() const override { return true; }
    std::string hash() const override {
        const Index size = is_square_ ? count_ * count_ : pairs_before(count_, count_);
        return Sha256().field(View<const Real, 1>(values_, size)).hex();
    }

    /// Float64 values are rounded to float32 in bands.
    double error(double cutoff) const override { return sizeof(Real) == 4 ? 0.0 : 1.3e-7 * cutoff; }
    bool is_below(Index i, Index j, double cutoff) const override {
        return at(i, j) < static_cast<Real>(cutoff);
    }

private:
    /// The distances of i to i + 1, i + 2, ...
    const Real* later(Index i) const {
        return values_ + (is_square_ ? i * count_ + i + 1 : pairs_before(i, count_));
    }
    Real at(Index i, Index j) const {
        if (i == j) return 0;
        return i < j ? later(i)[j - i - 1] : later(j)[i - j - 1];
    }
    [[noreturn]] static void refuse(const std::string& name, const std::string& element,
                                    Real found) {
        throw InputError(name, 0,
                         fmt::format("{}: expected a distance >= 0 that float32 can hold, found {}",
                                     element, found));
    }
    static bool is_distance(Real value) {
        return value >= 0 && value <= static_cast<Real>(std::numeric_limits<float>::max());
    }
    void check_condensed(const std::string& name) const {
        const Index pairs = pairs_before(count_, count_);
        for (Index n = 0; n < pairs; ++n)
            if (!is_distance(values_[n])) refuse(name, fmt::format("element {}", n), values_[n]);
    }
    void check_square(const std::string& name) const {
        constexpr Index kBlock = 64;  // columns are read as rows, block by block
        for (Index row = 0; row < count_; row += kBlock)
            for (Index column = row; column < count_; column += kBlock)
                for (Index i = row; i < std::min(row + kBlock, count_); ++i)
                    for (Index j = std::max(i, column); j < std::min(column + kBlock, count_); ++j)
                        check_element(name, i, j);
    }
    void check_element(const std::string& name, Index i, Index j) const {
        const Real upper = values_[i * count_ + j], lower = values_[j * count_ + i];
        if (!is_distance(upper)) refuse(name, fmt::format("element [{}, {}]", i, j), upper);
        if (!is_distance(lower)) refuse(name, fmt::format("element [{}, {}]", j, i), lower);
        if (i == j && upper > Real(1e-4))
            throw InputError(
                name, 0,
                fmt::format("element [{0}, {0}]: expected 0 in the diagonal, found {1}", i, upper));
        if (std::fabs(upper - lower) > Real(1e-5) * std::max(upper, lower))
            throw InputError(
                name, 0,
                fmt::format("expected a symmetric matrix, found {} at [{}, {}] and {} at [{}, {}]",
                            upper, i, j, lower, j, i));
    }

    std::shared_ptr<const MappedFile> file_;
    const Real* values_;
    Index count_;
    bool is_square_;
};

Index shape_count(std::span<const Index> shape, const std::string& name) {
    if (shape.size() == 2 && shape[0] == shape[1] && shape[0] > 0) return shape[0];
    if (shape.size() == 2)
        throw InputError(
            name, 0,
            fmt::format("expected a square matrix [M, M] of at least 1 item, found [{}, {}]",
                        shape[0], shape[1]));
    if (shape.size() == 1) {
        if (const std::optional<Index> count = items_of(shape[0])) return *count;
        throw InputError(
            name, 0,
            fmt::format("expected M (M - 1) / 2 distances, as SciPy's pdist gives, found {}",
                        shape[0]));
    }
    throw InputError(name, 0,
                     fmt::format("expected a matrix, condensed or square, found an array [{}]",
                                 fmt::join(shape, ", ")));
}

Index item_count(std::span<const Index> shape, const std::string& name) {
    const Index count = shape_count(shape, name);
    if (count > kMaxItems)
        throw InputError(name, 0,
                         fmt::format("expected at most {} items, found {}", kMaxItems, count));
    return count;
}

}  // namespace

std::unique_ptr<PairSource> open_matrix(const std::filesystem::path& path) {
    const std::string name = path.string();
    const auto file = std::make_shared<const MappedFile>(path);
    const NpyHeader header = header_of(*file, name);
    const Index count = item_count(header.shape, name);
    // A symmetric matrix is the same in either order of its axes.
    if (header.dtype != "<f4" && header.dtype != "<f8")
        throw InputError(
            name, 0,
            fmt::format("expected float32 or float64 values ('<f4', '<f8'), found '{}'",
                        header.dtype));
    if (file->size() - header.bytes != header.data_bytes)
        throw InputError(name, 0,
                         fmt::format("expected {} bytes of values, found {}", header.data_bytes,
                                     file->size() - header.bytes));
    if (header.bytes % header.element_bytes != 0)
        throw InputError(name, 0,
                         fmt::format("expected a header of a multiple of {} bytes, found {}",
                                     header.element_bytes, header.bytes));
    const bool is_square = header.shape.size() == 2;
    const std::uint8_t* const values = file->bytes() + header.bytes;
    if (header.dtype == "<f4")
        return std::make_unique<Matrix<float>>(file, reinterpret_cast<const float*>(values), count,
                                               is_square, name);
    return std::make_unique<Matrix<double>>(file, reinterpret_cast<const double*>(values), count,
                                            is_square, name);
}

Index matrix_items(const std::filesystem::path& path) {
    return item_count(header_of(MappedFile(path), path.string()).shape, path.string());
}

std::unique_ptr<PairSource> matrix_in_memory(const float* values, std::span<const Index> shape,
                                             const std::string& name) {
    return std::make_unique<Matrix<float>>(nullptr, values, item_count(shape, name),
                                           shape.size() == 2, name);
}

std::unique_ptr<PairSource> matrix_in_memory(const double* values, std::span<const Index> shape,
                                             const std::string& name) {
    return std::make_unique<Matrix<double>>(nullptr, values, item_count(shape, name),
                                            shape.size() == 2, name);
}

bool is_matrix_file(const std::filesystem::path& path) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) return false;
    if (std::filesystem::file_size(path, error) < 6) return false;
    const MappedFile file(path);
    if (std::memcmp(file.bytes(), "\x93NUMPY", 6) != 0) return false;
    const std::size_t axes = header_of(file, path.string()).shape.size();
    return axes == 1 || axes == 2;
}

}  // namespace pleat::cluster
