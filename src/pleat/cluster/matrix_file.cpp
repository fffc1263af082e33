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
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/npy_header.h"

namespace pleat::cluster {

namespace {

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
[[noreturn]] void refuse(const std::string& name, const std::string& element, Real found) {
    throw InputError(name, 0,
                     fmt::format("{}: expected a distance >= 0 that float32 can hold, found {}",
                                 element, found));
}

template <class Real>
bool is_distance(Real value) {
    return value >= 0 && value <= static_cast<Real>(std::numeric_limits<float>::max());
}

/// Checks the elements [i, j] and [j, i] of a square matrix.
template <class Real>
void check_elements(const Real* values, Index count, Index i, Index j, const std::string& name) {
    const Real upper = values[i * count + j], lower = values[j * count + i];
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

/// Checks the values. `file` keeps them alive; if it is null, the caller does.
template <class Real>
std::unique_ptr<PairSource> matrix_of(std::shared_ptr<const MappedFile> file, const Real* values,
                                      Index count, bool is_square, const std::string& name) {
    constexpr Index kBlock = 64;  // columns are read as rows, block by block
    for (Index row = 0; is_square && row < count; row += kBlock)
        for (Index column = row; column < count; column += kBlock)
            for (Index i = row; i < std::min(row + kBlock, count); ++i)
                for (Index j = std::max(i, column); j < std::min(column + kBlock, count); ++j)
                    check_elements(values, count, i, j, name);
    for (Index n = 0; !is_square && n < pairs_before(count, count); ++n)
        if (!is_distance(values[n])) refuse(name, fmt::format("element {}", n), values[n]);
    return std::make_unique<MatrixPairs<Real>>(std::move(file), values, count, is_square);
}

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
    // Symmetric matrices need no reordering of axes.
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
        return matrix_of(file, reinterpret_cast<const float*>(values), count, is_square, name);
    return matrix_of(file, reinterpret_cast<const double*>(values), count, is_square, name);
}

Index matrix_items(const std::filesystem::path& path) {
    return item_count(header_of(MappedFile(path), path.string()).shape, path.string());
}

std::unique_ptr<PairSource> matrix_in_memory(const float* values, std::span<const Index> shape,
                                             const std::string& name) {
    return matrix_of(nullptr, values, item_count(shape, name), shape.size() == 2, name);
}

std::unique_ptr<PairSource> matrix_in_memory(const double* values, std::span<const Index> shape,
                                             const std::string& name) {
    return matrix_of(nullptr, values, item_count(shape, name), shape.size() == 2, name);
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
