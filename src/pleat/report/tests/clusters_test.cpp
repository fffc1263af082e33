// Clusters: the sections about clusters of frames or chains, their transitions and dwell times.
#include <gtest/gtest.h>

#include "small_run.h"

namespace pleat::report {
namespace {

using namespace testing;

TEST(Report, DrawsClusters) {
    SmallRun run;
    const std::vector<std::int32_t> assignment = {0, 0, 1, 1, 1, -1, 0};
    write_npy(run.file("assignment.npy"), assignment.data(), {7});
    run.add("clusters.tsv", "cluster\tsize\n0\t3\n1\t3\n");
    run.add("tree.nwk", "(0:1,1:1);\n");
    run.add("medoids.pdb",
            "REMARK\nMODEL 1\nATOM  one\nENDMDL\nMODEL 2\nATOM  two\nTER\nENDMDL\nEND\n");
    run.add("histogram.tsv", "from\tto\tpairs\n0\t1\t4\n1\tNA\t2\n");
    const Json drawn = drawn_run(run.path());
    const Json steps = section(drawn, "Cluster against time");
    EXPECT_EQ(steps["values"], Json({0, 1, -1, 0}));
    EXPECT_EQ(steps["lengths"], Json({2, 3, 1, 1}));
    EXPECT_EQ(section(drawn, "Cluster sizes")["values"], Json({3.0, 3.0}));
    EXPECT_EQ(section(drawn, "Medoids")["models"], Json({"ATOM  one\nEND\n", "ATOM  two\nEND\n"}));
    EXPECT_EQ(section(drawn, "Dendrogram")["newick"], "(0:1,1:1);\n");
    EXPECT_TRUE(section(drawn, "Histogram of RMSD")["to"][1].is_null());
    EXPECT_EQ(section(drawn, "Histogram of RMSD")["y"]["label"], "pairs");
    run.add("reference.tsv", "frame\trmsd\n0\t1\n1\t2\n");
    EXPECT_EQ(section(drawn_run(run.path()), "Histogram of RMSD")["y"]["label"], "frames");
}

TEST(Report, NamesTheChainsThatAreItems) {
    SmallRun run;
    const std::vector<std::int32_t> assignment = {0, 0, 1, 0};
    write_npy(run.file("assignment.npy"), assignment.data(), {4});
    run.add("chains.tsv", "frame\tchain_A\tchain_B\tcombination\n0\t0\t1\t0 1\n1\t0\t0\t0 0\n");
    const Json drawn = drawn_run(run.path());
    const Json steps = section(drawn, "Cluster against time");
    EXPECT_EQ(steps["x"]["label"], "item");
    EXPECT_EQ(steps["note"], "The items are the chains A, B, one after the other, 2 frames each.");
    EXPECT_EQ(section(drawn, "Chains")["total"], 2);
}

TEST(Report, DrawsTransitionsAndDwellTimes) {
    const Json manifest = {{"parameters", {{"lag", 3}}}, {"results", {{"ps_per_frame", 20.5}}}};
    SmallRun run(manifest);
    run.add("transitions.tsv", "from\tto\tcount\n0\t0\t4\n");
    run.add("series.tsv", "first\tframes\n0\t7\n");
    run.add("transition_probabilities.tsv",
            "from\tto\tcount\tfrom_count\tprobability\n-1\t0\t1\t1\t1\n0\t0\t3\t4\t0.75\n"
            "0\t40\t1\t4\t0.25\n");
    run.add("dwell_distribution.tsv", "cluster\tdwell\tvisits\tcut\n-1\t1\t0\t1\n0\t5\t2\t1\n");
    run.add("dwell_times.tsv", "cluster\tvisits\tmean\n0\t2\t5\n");
    const Json drawn = drawn_run(run.path());
    const Json steps = section(drawn, "Transitions between clusters");
    EXPECT_EQ(steps["kind"], "transitions");
    EXPECT_EQ(steps["from"], Json({-1.0, 0.0}));
    EXPECT_EQ(steps["probability"], Json({1.0, 0.75}));
    EXPECT_EQ(steps["note"],
              "From the cluster of a frame (row) to that of the frame 3 later of the same file "
              "(column); -1 is noise. Only the first 40 clusters are shown.");
    EXPECT_EQ(section(drawn, "Transitions")["total"], 3) << "the table has all rows";
    const Json dwells = section(drawn, "Dwell times");
    EXPECT_EQ(dwells["dwell"], Json({1.0, 5.0}));
    EXPECT_EQ(dwells["cut"], Json({1.0, 1.0}));
    EXPECT_EQ(dwells["interval"], 20.5);
    EXPECT_EQ(section(drawn, "Dwell times by cluster")["total"], 1);
    EXPECT_TRUE(section(drawn, "transitions.tsv").is_null());
}

TEST(Report, SaysWhyThereAreNoTransitions) {
    const Json manifest = {{"results", {{"trajectory", "no"}}}};
    SmallRun run(manifest);
    const std::vector<std::int32_t> assignment = {0, 0, 1};
    write_npy(run.file("assignment.npy"), assignment.data(), {3});
    const Json steps = section(drawn_run(run.path()), "Cluster against time");
    EXPECT_TRUE(steps["note"].get<std::string>().starts_with("There are no transitions"));
}

TEST(Report, CutsATreeIntoTheClustersOfTheRun) {
    const Json manifest = {{"results", {{"items", 3}, {"clusters", 2}, {"largest", 2}}}};
    SmallRun run(manifest);
    run.add("tree.nwk", "((0:1,1:1):1,2:2);\n");
    const std::vector<std::int32_t> clusters = {1, 1, 0};
    write_npy(run.file("assignment.npy"), clusters.data(), {3});
    run.add("sweep.tsv", "k\tclusters\tsilhouette\n2\t2\t0.5\n3\t3\t0.1\n");
    const Json drawn = drawn_run(run.path()), tree = section(drawn, "Dendrogram");
    EXPECT_EQ(tree["clusters"], 2);
    EXPECT_FALSE(tree.contains("cut"));
    EXPECT_EQ(tree["assignment"], Json({1, 1, 0}));
    EXPECT_EQ(section(drawn, "Sweep")["series"][0]["name"], "silhouette");
}

}  // namespace
}  // namespace pleat::report
