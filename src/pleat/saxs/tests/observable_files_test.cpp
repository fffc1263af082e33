// Tests of files of observables: cells, computed distances and radii of gyration, and faults.
#include "pleat/saxs/observable_files.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "pleat/core/error.h"

namespace pleat::saxs {
namespace {

struct ObservableFiles : testing::Test {
    std::filesystem::path folder =
        std::filesystem::path(testing::TempDir()) / "pleat_observable_files";
    Ensemble ensemble;

    ObservableFiles() {
        std::filesystem::create_directories(folder);
        Topology topology;
        for (const int number : {-5, 10}) {
            topology.residues.push_back({"ALA", number, number == 10 ? 'B' : ' ', "A"});
            topology.atoms.push_back({"CA", "C", 12, std::ssize(topology.residues) - 1});
        }
        topology.atoms[1].mass = 36;
        ensemble.topology = std::make_shared<Topology>(topology);
        ensemble.xyz = Array<float, 3>(2, 3, 2);
        for (Index frame = 0; frame < 2; ++frame) {
            ensemble.xyz(frame, 0, 1) = 3.0F * static_cast<float>(frame + 1);
            ensemble.xyz(frame, 1, 1) = 4.0F * static_cast<float>(frame + 1);
        }
    }
    ~ObservableFiles() override { std::filesystem::remove_all(folder); }

    std::string file(const std::string& name, const std::string& text) {
        std::ofstream(folder / name) << text;
        return (folder / name).string();
    }
    std::string message(const std::string& table, const std::string& values = {}) {
        try {
            observables_of(read_observables(file("o.tsv", table)), values, ensemble);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    }
};

TEST_F(ObservableFiles, ComputesDistancesAndRadii) {
    const std::string path = file("o.csv",
                                  "# measured\nerror,name,value,kind,average,computed\n"
                                  "0.5,d,6,upper,r^-6,A:-5:CA-A:10B:CA\n1,size,4,,,rg\n");
    const Observables all = observables_of(read_observables(path), "", ensemble);
    ASSERT_EQ(all.list.size(), 2u);
    EXPECT_EQ(all.list[0].name, "d");
    EXPECT_EQ(all.list[0].value, 6);
    EXPECT_EQ(all.list[0].error, 0.5);
    EXPECT_EQ(all.list[0].kind, ObservableKind::upper);
    EXPECT_EQ(all.list[0].averaging, Averaging::r6);
    EXPECT_EQ(all.list[1].kind, ObservableKind::gaussian);
    EXPECT_EQ(all.values(0, 0), 5);
    EXPECT_EQ(all.values(1, 0), 10);
    // Masses 1 and 3 at distance d: Rg^2 = 3 / 16 d^2.
    EXPECT_NEAR(all.values(1, 1), 10 * std::sqrt(3.0) / 4, 1e-12);
}

TEST_F(ObservableFiles, ReadsValuesByName) {
    const std::string table =
        "name\tvalue\terror\tcomputed\na\t1\t1\t\nd\t5\t1\tA:-5:CA-A:10B:CA\nb\t2\t1\t\n";
    const Observables all = observables_of(read_observables(file("o.tsv", table)),
                                           file("v.tsv", "b\ta\n1\t2\n3\t4\n"), ensemble);
    const std::vector<double> wanted = {2, 5, 1, 4, 10, 3};
    EXPECT_EQ(std::vector<double>(all.values.begin(), all.values.end()), wanted);
}

TEST_F(ObservableFiles, SaysWhatIsWrong) {
    const auto has = [&](const std::string& text, const std::string& part) {
        EXPECT_NE(text.find(part), std::string::npos) << text;
    };
    has(message(""), "expected a line of names");
    has(message("name\tvalue\na\t1\n"), "found no error");
    has(message("name\tvalue\terror\tkinds\na\t1\t1\tupper\n"), "found 'kinds'");
    has(message("name\tname\tvalue\terror\na\t1\t1\t1\n"), "two of one name");
    has(message("name\tvalue\terror\na\t1\n"), "o.tsv:2: expected 3 cells, found 2");
    has(message("name\tvalue\terror\na\tx\t1\n"), "o.tsv:2: expected a number as value");
    has(message("name\tvalue\terror\tkind\na\t1\t1\tabove\n"),
        "expected kind gaussian, upper, lower, found 'above'");
    has(message("name\tvalue\terror\tcomputed\na\t1\t1\tA:10\n"), "expected rg or CHAIN");
    has(message("name\tvalue\terror\tcomputed\na\t1\t1\tA:-5:CA-A:10:CA\n"),
        "expected atoms of the structure, each once, found 'A:10:CA'");
    has(message("name\tvalue\terror\na\t1\t1\n"), "--observable-values");
    const std::string one = file("v.tsv", "a\n1\n"), other = file("w.tsv", "b\n1\n2\n");
    has(message("name\tvalue\terror\na\t1\t1\n", one),
        "expected a row of values of each of 2 frames, found 1");
    has(message("name\tvalue\terror\na\t1\t1\n", other), "found none of 'a'");
    has(message("name\tvalue\terror\tcomputed\na\t1\t1\trg\n", one), "expected observables that");
    Topology unknown = *ensemble.topology;
    unknown.atoms[0].mass = 0;
    ensemble.topology = std::make_shared<Topology>(unknown);
    has(message("name\tvalue\terror\tcomputed\na\t1\t1\trg\n"), "known elements");
}

}  // namespace
}  // namespace pleat::saxs
