// Device choice: what GPUs of any size are taken for, on machines without one.
#include "pleat/rmsd/device_choice.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "pleat/core/error.h"
#include "pleat/rmsd/kernel/kernel.h"
#include "pleat/rmsd/measures/metric.h"

namespace pleat::rmsd {
namespace {

constexpr Index kFrames = 4000000, kAtoms = 100;

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
