// Clustering GPUs: which of several GPUs find clusters together, on machines without one.
#include "pleat/rmsd/device_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/rmsd/kernel/kernel.h"

namespace pleat::rmsd {
namespace {

constexpr Index kFrames = 200000, kAtoms = 100;

struct Remarks final : Progress {
    void update(std::string_view, std::int64_t, std::int64_t, std::string_view) override {}
    bool cancelled() override { return false; }
    void message(std::string_view text) override { all.emplace_back(text); }
    std::vector<std::string> all;
};

struct Chosen {
    std::string devices;
    ClusteringDevice choice;
    std::vector<std::string> remarks;
};

CudaDevices gpus_with(const std::vector<std::int64_t>& free) {
    CudaDevices found;
    for (const std::int64_t bytes : free) {
        CudaDevice gpu;
        gpu.index = static_cast<int>(found.devices.size());
        gpu.total_bytes = std::max<std::int64_t>(bytes, 1);
        gpu.free_bytes = bytes;
        gpu.usable = true;
        found.devices.push_back(gpu);
    }
    return found;
}

/// `devices`: those that were named; empty: none.
Chosen choose_several(const std::vector<std::int64_t>& free, Index frames, const char* devices,
                      bool is_gromos = true, bool reads = true) {
    const CudaDevices found = gpus_with(free);
    const GpuLookup gpus{
        .choose = [&](std::int64_t bytes) { return device_with_room(found, bytes); },
        .free_bytes =
            [&](int index) {
                if (index >= std::ssize(found.devices)) throw DeviceError("no such GPU");
                return found.devices[index].free_bytes;
            },
        .all = [&] { return found; },
        .count = [&] { return static_cast<int>(found.devices.size()); }};
    Remarks remarks;
    Context context;
    context.progress = &remarks;
    if (*devices != '\0') name_devices(devices, context, gpus);
    ClusteringDevice choice =
        choose_clustering_gpus(frames, kAtoms, {}, is_gromos, *devices != '\0', context, gpus,
                               [&](std::span<const Device>) { return reads; });
    return {device_names(context), choice, remarks.all};
}

TEST(ClusteringGpus, NamedGpusClusterTogetherIfEachHasTheMemory) {
    const std::int64_t enough = gromos_gpu_memory(kFrames, kAtoms, {});
    const Chosen found = choose_several({enough, enough}, kFrames, "cuda:0,1");
    EXPECT_EQ(found.devices, "cuda:0,cuda:1");
    EXPECT_TRUE(found.choice.reduces);
    EXPECT_TRUE(found.remarks.empty());
    try {
        choose_several({enough, enough - 1}, kFrames, "cuda:0,1");
        FAIL();
    } catch (const DeviceError& error) {
        EXPECT_NE(std::string(error.what()).find("on cuda:1"), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("clusters of 200000 frames"), std::string::npos);
    }
    const Chosen apart = choose_several({enough, enough}, kFrames, "cuda:0,1", true, false);
    EXPECT_EQ(apart.devices, "cuda:0,cuda:1");
    EXPECT_FALSE(apart.choice.reduces);
    ASSERT_EQ(apart.remarks.size(), 1U);
    EXPECT_NE(apart.remarks[0].find("cannot read each other's memory"), std::string::npos);
    EXPECT_THROW(choose_several({enough}, kFrames, "cuda:0,1", true, false), DeviceError);
    const Chosen other = choose_several({enough, enough}, kFrames, "cuda:0,1", false);
    EXPECT_EQ(other.devices, "cuda:0,cuda:1");
    EXPECT_FALSE(other.choice.reduces);
    EXPECT_EQ(choose_several({}, kFrames, "cpu,cpu").devices, "cpu,cpu");
}

TEST(ClusteringGpus, TakesFurtherGpusThatSaveTime) {
    constexpr Index kMany = 1'000'000;
    const std::int64_t alone = gromos_gpu_memory(kMany, kAtoms, {});
    EXPECT_EQ(choose_several({alone - 1, alone - 1}, kMany, "").choice.reduces, false);
    const Chosen faster = choose_several({alone, alone}, kMany, "");
    EXPECT_EQ(faster.devices, "cuda:0,cuda:1");
    EXPECT_TRUE(faster.choice.reduces);
    EXPECT_EQ(choose_several({alone, alone}, kMany, "", true, false).devices, "cuda:0");
    EXPECT_EQ(choose_several({alone, alone}, 20000, "").devices, "cuda:0");
    EXPECT_EQ(choose_several({alone, alone}, kMany, "cuda:0").devices, "cuda:0");
    EXPECT_EQ(choose_several({alone, alone}, kMany, "", false).devices, "cuda:0");
}

}  // namespace
}  // namespace pleat::rmsd
