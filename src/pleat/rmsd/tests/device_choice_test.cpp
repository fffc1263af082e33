// Device choice: what GPUs of any size are taken for, on machines without one.
#include "pleat/rmsd/device_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/rmsd/kernel/kernel.h"
#include "pleat/rmsd/measures/metric.h"

namespace pleat::rmsd {
namespace {

constexpr Index kFrames = 200000, kAtoms = 100;

/// A machine whose only GPU has so many bytes free.
GpuLookup one_gpu(std::int64_t free) {
    const auto choose = [free](std::int64_t bytes) {
        return free >= bytes ? DeviceChoice{{Device::Kind::cuda, 0}, "has room"}
                             : DeviceChoice{{Device::Kind::cpu, 0}, "has no room"};
    };
    return {.choose = choose, .free_bytes = [free](int) { return free; }};
}

struct Remarks final : Progress {
    void update(std::string_view, std::int64_t, std::int64_t, std::string_view) override {}
    bool cancelled() override { return false; }
    void message(std::string_view text) override { all.emplace_back(text); }
    std::vector<std::string> all;
};

struct Chosen {
    Device device;
    ClusteringDevice choice;
    std::vector<std::string> remarks;
    std::string devices = {};
};

/// `device`: the one that was named; empty: none.
Chosen choose(std::int64_t free, bool is_gromos, const std::string& device = "") {
    Remarks remarks;
    Context context;
    context.progress = &remarks;
    if (!device.empty()) context.device = Device::parse(device);
    ClusteringDevice choice = choose_clustering_device(kFrames, kAtoms, {}, is_gromos,
                                                       !device.empty(), context, one_gpu(free));
    return {context.device, choice, remarks.all};
}

std::int64_t superposing() { return memory_needed(kFrames, kAtoms, {}, {Device::Kind::cuda, 0}); }

TEST(DeviceChoice, ClustersWhereTheNeighboursFit) {
    ASSERT_LT(superposing(), clustering_memory(kFrames, kAtoms));
    const Chosen all = choose(clustering_memory(kFrames, kAtoms), true);
    EXPECT_EQ(all.device, Device::parse("cuda:0"));
    EXPECT_TRUE(all.choice.reduces);
    EXPECT_EQ(all.choice.remark, "device cuda:0: has room");
    EXPECT_TRUE(all.remarks.empty());

    const Chosen less = choose(clustering_memory(kFrames, kAtoms) - 1, true);
    EXPECT_EQ(less.device, Device::parse("cuda:0"));
    EXPECT_FALSE(less.choice.reduces);
    ASSERT_EQ(less.remarks.size(), 1U);
    EXPECT_NE(less.remarks[0].find("cuda:0 superposes alone"), std::string::npos);

    const Chosen fewest = choose(superposing() - 1, true);
    EXPECT_EQ(fewest.device, Device::parse("cpu"));
    EXPECT_FALSE(fewest.choice.reduces);
    EXPECT_TRUE(fewest.remarks.empty());
}

TEST(DeviceChoice, OtherMethodsSuperposeAlone) {
    const Chosen found = choose(superposing(), false);
    EXPECT_EQ(found.device, Device::parse("cuda:0"));
    EXPECT_FALSE(found.choice.reduces);
    EXPECT_EQ(choose(superposing() - 1, false).device, Device::parse("cpu"));
}

TEST(DeviceChoice, NamedDevicesStay) {
    const std::int64_t enough = clustering_memory(kFrames, kAtoms);
    EXPECT_TRUE(choose(enough, true, "cuda:0").choice.reduces);
    EXPECT_THROW(choose(enough - 1, true, "cuda:0"), DeviceError);
    EXPECT_FALSE(choose(0, false, "cuda:0").choice.reduces);
    for (const char* name : {"cpu", "reference"}) {
        const Chosen found = choose(enough, true, name);
        EXPECT_EQ(found.device, Device::parse(name));
        EXPECT_FALSE(found.choice.reduces);
    }
}

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

/// As choose(), of several GPUs. `devices`: those that were named; empty: none.
Chosen choose_several(const std::vector<std::int64_t>& free, Index frames, const char* devices,
                      bool is_gromos = true, bool reads = true) {
    const CudaDevices found = gpus_with(free);
    const GpuLookup gpus{
        .choose = [&](std::int64_t bytes) { return device_with_room(found, bytes); },
        .free_bytes = [&](int index) { return found.devices.at(index).free_bytes; },
        .all = [&] { return found; },
        .count = [&] { return static_cast<int>(found.devices.size()); }};
    Remarks remarks;
    Context context;
    context.progress = &remarks;
    if (*devices != '\0') name_devices(devices, context, gpus);
    ClusteringDevice choice =
        choose_clustering_gpus(frames, kAtoms, {}, is_gromos, *devices != '\0', context, gpus,
                               [&](std::span<const Device>) { return reads; });
    return {context.device, choice, remarks.all, device_names(context)};
}

TEST(DeviceChoice, NamedGpusClusterTogetherIfEachHoldsItsPart) {
    const std::int64_t half = clustering_memory(kFrames, kAtoms, 2);
    ASSERT_LT(half, clustering_memory(kFrames, kAtoms));
    const Chosen found = choose_several({half, half}, kFrames, "cuda:0,1");
    EXPECT_EQ(found.devices, "cuda:0,cuda:1");
    EXPECT_TRUE(found.choice.reduces);
    EXPECT_TRUE(found.remarks.empty());
    try {
        choose_several({half, half - 1}, kFrames, "cuda:0,1");
        FAIL();
    } catch (const DeviceError& error) {
        EXPECT_NE(std::string(error.what()).find("on cuda:1"), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("one of 2 GPUs"), std::string::npos);
    }
    const Chosen apart = choose_several({half, half}, kFrames, "cuda:0,1", true, false);
    EXPECT_EQ(apart.devices, "cuda:0,cuda:1");
    EXPECT_FALSE(apart.choice.reduces);
    ASSERT_EQ(apart.remarks.size(), 1U);
    EXPECT_NE(apart.remarks[0].find("cannot read each other's memory"), std::string::npos);
    const Chosen other = choose_several({half, half}, kFrames, "cuda:0,1", false);
    EXPECT_EQ(other.devices, "cuda:0,cuda:1");
    EXPECT_FALSE(other.choice.reduces);
    EXPECT_EQ(choose_several({}, kFrames, "cpu,cpu").devices, "cpu,cpu");
}

TEST(DeviceChoice, TakesAsManyGpusAsHoldTheNeighboursOrSaveTime) {
    constexpr Index kMany = 1'000'000;
    const std::int64_t alone = clustering_memory(kMany, kAtoms),
                       half = clustering_memory(kMany, kAtoms, 2),
                       third = clustering_memory(kMany, kAtoms, 3);
    const Chosen two = choose_several({half, 0, half, half}, kMany, "");
    EXPECT_EQ(two.devices, "cuda:0,cuda:2");
    EXPECT_TRUE(two.choice.reduces);
    EXPECT_NE(two.choice.remark.find("hold the neighbours together"), std::string::npos);
    EXPECT_EQ(choose_several({third, third, third}, kMany, "").devices, "cuda:0,cuda:1,cuda:2");
    const Chosen superposing = choose_several({third, third}, kMany, "");
    EXPECT_EQ(superposing.devices, "cuda:0");
    EXPECT_FALSE(superposing.choice.reduces);
    EXPECT_EQ(choose_several({half, half}, kMany, "", true, false).devices, "cuda:0");

    const Chosen faster = choose_several({alone, alone}, kMany, "");
    EXPECT_EQ(faster.devices, "cuda:0,cuda:1");
    EXPECT_TRUE(faster.choice.reduces);
    EXPECT_EQ(choose_several({alone, alone}, kMany, "", true, false).devices, "cuda:0");
    EXPECT_EQ(choose_several({alone, alone}, 20000, "").devices, "cuda:0");
    EXPECT_EQ(choose_several({alone, alone}, kMany, "cuda:0").devices, "cuda:0");
    EXPECT_EQ(choose_several({alone, alone}, kMany, "", false).devices, "cuda:0");
}

// What a GPU refuses it must not be chosen for.
TEST(DeviceChoice, GpusHaveAPartInWhatTheyCompute) {
    const ComparedSizes one_set{.frames = kFrames, .atoms = kAtoms};
    const ComparedSizes two_sets{.frames = kFrames, .atoms = kAtoms, .others = kFrames};
    const auto demand = [](const AtomSets& sets, const char* metric, const ComparedSizes& sizes) {
        Parameters parameters;
        parameters.metric = metric_named(metric);
        return gpu_demand(sizes, sets, parameters);
    };
    ASSERT_TRUE(demand({}, "rmsd", one_set));
    EXPECT_EQ(demand({}, "rmsd", one_set)->bytes, superposing());
    EXPECT_EQ(demand({{}, {}, std::vector<double>(kAtoms, 2.0)}, "rmsd", one_set)->bytes,
              superposing());
    EXPECT_TRUE(demand({}, "rmsd", two_sets));
    EXPECT_TRUE(demand({{0, 1, 2}, {0, 1, 2}, {}}, "rmsd", one_set));
    EXPECT_TRUE(demand({{}, {0, 1, 2}, {}}, "rmsd", one_set));
    EXPECT_FALSE(demand({{}, {0, 1, 2}, {}}, "rmsd", {.frames = 100, .atoms = 10}));
    EXPECT_FALSE(demand({}, "rmsd", {.frames = 100000000, .atoms = 20, .has_reference = true}));
    AtomSets chains;
    for (Index chain = 0; chain < 8; ++chain) {
        if (chain == 7) {
            EXPECT_TRUE(demand(chains, "rmsd", one_set));
        }
        if (chain == 0) chains.equal_chains.emplace_back();
        chains.equal_chains.front().push_back({chain});
    }
    EXPECT_FALSE(demand(chains, "rmsd", one_set)) << "8 chains are searched on the CPU";
    for (const char* metric : {"drmsd", "lddt"}) {
        ASSERT_TRUE(demand({}, metric, one_set)) << metric;
        EXPECT_GT(demand({}, metric, one_set)->seconds, 0) << metric;
        ASSERT_TRUE(demand({}, metric, two_sets)) << metric;
        EXPECT_GT(demand({}, metric, two_sets)->seconds, 0) << metric;
        EXPECT_FALSE(demand({}, metric, {.frames = 100, .atoms = 10})) << metric;
        EXPECT_TRUE(demand({}, metric, {.frames = 100000000, .atoms = 20, .has_reference = true}))
            << metric;
    }
}

}  // namespace
}  // namespace pleat::rmsd
