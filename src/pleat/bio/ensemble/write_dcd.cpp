// Write DCD: a header of 84 bytes, a title, the number of atoms, and a record an axis.
#include "pleat/bio/ensemble/write_dcd.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "pleat/core/error.h"

namespace pleat {

namespace {

constexpr std::size_t kNumbers = 20;  // of the header, after its four letters
constexpr std::uint64_t kFrames = 8;  // where the number of frames stands in the file
constexpr std::uint64_t kSteps = kFrames + 4 * 3;
constexpr std::int32_t kCharmmVersion = 24;

}  // namespace

DcdWriter::DcdWriter(std::filesystem::path path, Index atoms, bool has_cells)
    : file_(std::move(path)), atoms_(atoms), has_cells_(has_cells) {
    constexpr Index kMaxAtoms = std::numeric_limits<std::int32_t>::max() / 4;
    if (atoms > kMaxAtoms)
        throw OutputError(fmt::format("{}: expected at most {} atoms for DCD, found {}",
                                      file_.path().string(), kMaxAtoms, atoms));
    std::array<std::int32_t, kNumbers> numbers{};
    numbers[1] = numbers[2] = 1;  // the first step, and steps from frame to frame
    const float delta = 1.0f;
    std::memcpy(&numbers[9], &delta, sizeof(delta));
    numbers[10] = has_cells ? 1 : 0;
    numbers[19] = kCharmmVersion;
    std::string header = "CORD";
    header.append(reinterpret_cast<const char*>(numbers.data()), sizeof(numbers));
    record(header.data(), header.size());
    const std::int32_t one = 1;
    std::string title(reinterpret_cast<const char*>(&one), sizeof(one));
    title += fmt::format("{:<80}", "Written by pleat");
    record(title.data(), title.size());
    const auto count = static_cast<std::int32_t>(atoms);
    record(&count, sizeof(count));
}

void DcdWriter::add(View<const float, 2> frame, const PeriodicCell& cell) {
    if (has_cells_) {
        const auto& [a, b, c] = cell.vectors;
        const auto cosine = [](const Point& one, const Point& other) {
            const double lengths = std::sqrt(dot(one, one) * dot(other, other));
            return lengths > 0 ? dot(one, other) / lengths : 0.0;
        };
        const std::array<double, 6> numbers = {std::sqrt(dot(a, a)), cosine(a, b),
                                               std::sqrt(dot(b, b)), cosine(a, c),
                                               cosine(b, c),         std::sqrt(dot(c, c))};
        record(numbers.data(), sizeof(numbers));
    }
    for (Index axis = 0; axis < 3; ++axis)
        record(frame[axis].data, static_cast<std::size_t>(atoms_) * sizeof(float));
    ++frames_;
}

void DcdWriter::close() {
    const auto count = static_cast<std::int32_t>(
        std::min<Index>(frames_, std::numeric_limits<std::int32_t>::max()));
    file_.write_at(kFrames, &count, sizeof(count));
    file_.write_at(kSteps, &count, sizeof(count));
    file_.close();
}

void DcdWriter::record(const void* data, std::size_t bytes) {
    const auto length = static_cast<std::int32_t>(bytes);
    file_.write(&length, sizeof(length));
    file_.write(data, bytes);
    file_.write(&length, sizeof(length));
}

}  // namespace pleat
