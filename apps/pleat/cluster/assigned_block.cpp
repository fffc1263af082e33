// Assigned block: numbers as bytes.
#include "cluster/assigned_block.h"

#include <cstring>
#include <limits>

namespace pleat::program {

namespace {

class Packer {
public:
    template <class T>
    void add(std::span<const T> values) {
        const std::size_t at = bytes.size();
        bytes.resize(at + values.size_bytes());
        if (!values.empty()) std::memcpy(bytes.data() + at, values.data(), values.size_bytes());
    }
    template <class T>
    void add(const T& value) {
        add(std::span(&value, 1));
    }
    std::vector<std::uint8_t> bytes;
};

class Unpacker {
public:
    explicit Unpacker(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
    template <class T>
    void get(std::span<T> values) {
        if (!values.empty()) std::memcpy(values.data(), bytes_.data(), values.size_bytes());
        bytes_ = bytes_.subspan(values.size_bytes());
    }
    template <class T>
    T get() {
        T value{};
        get(std::span(&value, 1));
        return value;
    }

private:
    std::span<const std::uint8_t> bytes_;
};

}  // namespace

std::vector<std::uint8_t> pack(const AssignedBlock& block) {
    Packer packer;
    packer.add(block.frames());
    if (block.frames() == 0) return std::move(packer.bytes);
    for (const FrameOrigin& origin : block.origins) {
        packer.add(origin.file);
        packer.add(origin.frame);
        packer.add(origin.time.value_or(std::numeric_limits<double>::quiet_NaN()));
        packer.add<std::int64_t>(origin.time.has_value());
    }
    const rmsd::Nearest& nearest = block.compared.nearest;
    packer.add(nearest.indices.extent(1));
    packer.add(std::span<const std::int32_t>(nearest.indices.data(), nearest.indices.size()));
    packer.add(std::span<const float>(nearest.values.data(), nearest.values.size()));
    const PairStatistics& pairs = block.compared.statistics;
    packer.add(static_cast<Index>(pairs.histogram().size()));
    packer.add(std::span<const std::int64_t>(pairs.histogram()));
    for (const double value : {pairs.bin_width(), pairs.sum(), pairs.min(), pairs.max()})
        packer.add(value);
    return std::move(packer.bytes);
}

AssignedBlock unpack_block(std::span<const std::uint8_t> bytes) {
    Unpacker unpacker(bytes);
    AssignedBlock block;
    const auto frames = unpacker.get<Index>();
    if (frames == 0) return block;
    for (Index n = 0; n < frames; ++n) {
        FrameOrigin& origin = block.origins.emplace_back();
        origin.file = unpacker.get<Index>();
        origin.frame = unpacker.get<Index>();
        const auto time = unpacker.get<double>();
        if (unpacker.get<std::int64_t>() != 0) origin.time = time;
    }
    rmsd::Nearest& nearest = block.compared.nearest;
    const auto count = unpacker.get<Index>();
    nearest.indices = Array<std::int32_t, 2>(frames, count);
    nearest.values = Array<float, 2>(frames, count);
    unpacker.get(std::span(nearest.indices.data(), nearest.indices.size()));
    unpacker.get(std::span(nearest.values.data(), nearest.values.size()));
    std::vector<std::int64_t> histogram(static_cast<std::size_t>(unpacker.get<Index>()));
    unpacker.get(std::span(histogram));
    const auto bin_width = unpacker.get<double>(), sum = unpacker.get<double>(),
               min = unpacker.get<double>(), max = unpacker.get<double>();
    block.compared.statistics = {bin_width, std::move(histogram), sum, min, max};
    return block;
}

}  // namespace pleat::program
