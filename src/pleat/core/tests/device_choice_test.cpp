// Tests of GPUs: what is taken when no device was named, and how an absent one is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "pleat/core/cuda/cuda_device.h"
#include "pleat/core/error.h"

namespace pleat {
namespace {

constexpr std::int64_t kGibibyte = std::int64_t{1} << 30;

CudaDevice gpu(int index, std::int64_t free, bool usable = true) {
    return {.index = index,
            .name = "GPU",
            .major = usable ? 8 : 7,
            .total_bytes = 80 * kGibibyte,
            .free_bytes = free,
            .usable = usable};
}

TEST(ChooseDevice, TakesTheFirstGpuWithRoom) {
    const CudaDevices found{{gpu(0, 80 * kGibibyte, false), gpu(1, kGibibyte),
                             gpu(2, 3 * kGibibyte), gpu(3, 9 * kGibibyte)},
                            ""};
    EXPECT_EQ(device_with_room(found, 2 * kGibibyte).device, Device::parse("cuda:2"));
    EXPECT_EQ(device_with_room(found, 3 * kGibibyte).device, Device::parse("cuda:2"));
    EXPECT_EQ(device_with_room(found, 3 * kGibibyte + 1).device, Device::parse("cuda:3"));
}

TEST(ChooseDevice, FallsBackToTheCpuAndSaysWhy) {
    const DeviceChoice full = device_with_room({{gpu(0, kGibibyte)}, ""}, 2 * kGibibyte);
    EXPECT_EQ(full.device, Device::parse("cpu"));
    EXPECT_EQ(full.reason, "cuda:0 has 1.0 GiB free, 2.0 GiB needed");
    const DeviceChoice old = device_with_room({{gpu(0, 0, false)}, ""}, 0);
    EXPECT_EQ(old.device, Device::parse("cpu"));
    EXPECT_EQ(old.reason, "cuda:0 has compute capability 7.0, older than 8.0");
    EXPECT_EQ(device_with_room({{}, "no NVIDIA driver"}, 0).reason, "no NVIDIA driver");
}

TEST(CudaDevices, AreListedOrTheirAbsenceIsExplained) {
    const CudaDevices found = find_cuda_devices();
    EXPECT_EQ(found.devices.empty(), !found.absence.empty());
    for (const CudaDevice& gpu : found.devices) {
        EXPECT_LE(gpu.free_bytes, gpu.total_bytes);
        if (!gpu.usable) continue;
        EXPECT_EQ(use_cuda_device(gpu.index).name, gpu.name);
    }
}

TEST(CudaDevices, AnEarlyStartChangesNothingThatIsFound) {
    const CudaDevices before = find_cuda_devices();
    // One after the other: the second sets the environment, which no other thread may read then.
    { const std::jthread present = start_cuda_early(0, false); }
    { const std::jthread absent = start_cuda_early(99, true); }
    const CudaDevices after = find_cuda_devices();
    EXPECT_EQ(after.absence, before.absence);
    EXPECT_EQ(after.devices.size(), before.devices.size());
}

TEST(CudaDevices, AreLookedForUntilOneSuffices) {
    const CudaDevices all = find_cuda_devices();
    if (all.devices.empty()) GTEST_SKIP() << all.absence;
    const CudaDevices first = find_cuda_devices(1);
    std::size_t expected = 0;
    while (expected < all.devices.size() && !all.devices[expected].usable) ++expected;
    EXPECT_EQ(first.devices.size(), std::min(expected + 1, all.devices.size()));
}

TEST(CudaDevices, AnAbsentOneIsRefusedByName) {
    try {
        use_cuda_device(99);
        FAIL() << "expected a DeviceError";
    } catch (const DeviceError& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("cuda:99: "), std::string::npos) << text;
        EXPECT_NE(text.find("leave --device out"), std::string::npos) << text;
    }
}

}  // namespace
}  // namespace pleat
