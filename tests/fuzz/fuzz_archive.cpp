// Fuzzer of NPZ and NPY: any bytes give sound arrays or an InputError, nothing else.
#include "harness.h"

#include <vector>

#include "pleat/core/error.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/files/zip.h"

namespace {

using namespace pleat;

void check(const NpyArray& array) {
    const std::size_t width = static_cast<std::size_t>(array.dtype.back() - '0');
    fuzz::require(width >= 1 && width <= 8);
    Index size = 1;
    for (const Index extent : array.shape) {
        fuzz::require(extent >= 0);
        size *= extent;
    }
    fuzz::require(array.size() == size);
    fuzz::require(array.bytes.size() == static_cast<std::size_t>(size) * width);
    fuzz::require(array.as<double>("fuzz").size() == static_cast<std::size_t>(size));
}

template <class Action>
void refusable(const std::string& file, Action action) {
    try {
        action();
    } catch (const InputError& error) {
        fuzz::require_refusal(error, file);
    }
}

void read_archive(const std::string& path) {
    const ZipReader archive(path);
    for (const auto& entry : archive.members())
        refusable(path,
                  [&] { fuzz::require(archive.read(entry.second).size() == entry.second.bytes); });
    const NpzReader arrays(path);
    for (const std::string& name : arrays.names()) {
        fuzz::require(arrays.has(name));
        refusable(path, [&] { check(arrays.get(name)); });
        refusable(path, [&] { arrays.integer(name); });
        refusable(path, [&] { arrays.text(name); });
    }
}

}  // namespace

/// The first bit says whether the rest is an .npy file instead of an archive.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    if (data[0] & 1) {
        refusable("fuzz", [&] { check(parse_npy({data + 1, data + size}, "fuzz")); });
        return 0;
    }
    const fuzz::MemoryFile file(fuzz::text_of(data + 1, size - 1));
    refusable(file.path(), [&] { read_archive(file.path()); });
    return 0;
}
