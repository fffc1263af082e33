// Matrix files: both layouts and precisions give the same distances, and broken ones are refused.
#include "pleat/cluster/cluster.h"

#include <gtest/gtest.h>

#include <cmath>

#include "pleat/cluster/neighbours/neighbours.h"
#include "pleat/cluster/tests/random_pairs.h"
#include "pleat/core/error.h"
#include "pleat/core/files/npy.h"
#include "pleat/core/tests/temporary_folder.h"

namespace pleat::cluster {
namespace {

using pleat::test::TemporaryFolder;
using test::random_pairs;
using test::threads;

template <class Real>
std::vector<Real> square(const StoredPairs& distances) {
    const Index count = distances.count();
    std::vector<Real> values;
    for (Index i = 0; i < count; ++i)
        for (Index j = 0; j < count; ++j) values.push_back(distances.at(i, j));
    return values;
}

template <class Real>
std::vector<Real> condensed(const StoredPairs& distances) {
    return {distances.condensed().begin(), distances.condensed().end()};
}

void expect_same(const PairSource& found, const StoredPairs& truth) {
    const Index count = truth.count();
    ASSERT_EQ(found.count(), count);
    EXPECT_EQ(test::condensed_pairs(found), truth.condensed());
    std::vector<Index> items = {count - 1, 0, count / 2};
    std::vector<float> rows(items.size() * static_cast<std::size_t>(count)), expected = rows;
    found.rows(items, rows.data());
    truth.rows(items, expected.data());
    EXPECT_EQ(rows, expected);
}

TEST(MatrixFile, EveryLayoutAndPrecisionIsTheSame) {
    for (const Index count : {1, 2, 5, 130}) {
        const TemporaryFolder folder;
        const StoredPairs truth = random_pairs(count, 0, 14);
        const Index pairs = pairs_before(count, count);
        write_npy(folder / "c4.npy", truth.condensed().data(), {pairs});
        write_npy(folder / "c8.npy", condensed<double>(truth).data(), {pairs});
        write_npy(folder / "s4.npy", square<float>(truth).data(), {count, count});
        write_npy(folder / "s8.npy", square<double>(truth).data(), {count, count});
        for (const char* name : {"c4.npy", "c8.npy", "s4.npy", "s8.npy"}) {
            SCOPED_TRACE(name);
            EXPECT_TRUE(is_matrix_file(folder / name));
            expect_same(*open_matrix(folder / name), truth);
        }
    }
}

TEST(MatrixFile, Float64IsComparedInFloat64) {
    const TemporaryFolder folder;
    const double cutoff = 0.3, above = std::nextafter(cutoff, 1.0),
                 below = std::nextafter(cutoff, 0.0);
    const std::vector<double> values = {above, below, cutoff};
    write_npy(folder / "m.npy", values.data(), {3});
    const auto matrix = open_matrix(folder / "m.npy");
    const auto neighbours = find_neighbours(*matrix, cutoff, threads(1), 1 << 20);
    EXPECT_EQ(neighbours->degrees(), std::vector<std::int32_t>({2, 1, 2}));
}

std::string refusal_of(const std::vector<double>& values, const std::vector<Index>& shape) {
    const TemporaryFolder folder;
    write_npy(folder / "m.npy", values.data(), shape);
    try {
        open_matrix(folder / "m.npy");
    } catch (const InputError& error) {
        return error.what();
    }
    return "nothing";
}

TEST(MatrixFile, BrokenOnesAreRefusedInOneLine) {
    const double nan = std::nan("");
    const auto expect = [](const std::string& text, const std::string& part) {
        EXPECT_NE(text.find(part), std::string::npos) << text;
        EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    };
    expect(refusal_of({1, 2, 3, 4}, {4}),
           "expected M (M - 1) / 2 distances, as SciPy's pdist gives, found 4");
    expect(refusal_of({0, 1, 1, 0, 1, 1}, {2, 3}), "expected a square matrix [M, M]");
    expect(refusal_of({1, 2, 3, 4, 5, 6}, {1, 2, 3}), "expected a matrix, condensed or square");
    expect(refusal_of({}, {0, 0}),
           "expected a square matrix [M, M] of at least 1 item, found [0, 0]");
    expect(refusal_of({1, nan, 3}, {3}),
           "element 1: expected a distance >= 0 that float32 can hold, found nan");
    expect(refusal_of({1, -1, 3}, {3}), "element 1: expected a distance >= 0");
    expect(refusal_of({1, 1e300, 3}, {3}), "element 1: expected a distance >= 0");
    expect(refusal_of({0, nan, 1, 0}, {2, 2}), "element [0, 1]: expected a distance >= 0");
    expect(refusal_of({0, 1, nan, 0}, {2, 2}), "element [1, 0]: expected a distance >= 0");
    expect(refusal_of({0, 1, 1, 0.5}, {2, 2}),
           "element [1, 1]: expected 0 in the diagonal, found 0.5");
    expect(refusal_of({0, 1, 1.1, 0}, {2, 2}),
           "expected a symmetric matrix, found 1 at [0, 1] and 1.1 at [1, 0]");
}

TEST(MatrixFile, BytesThatAreMissingOrOfAnotherKindAreRefused) {
    const TemporaryFolder folder;
    const std::vector<std::int32_t> whole = {1, 2, 3};
    write_npy(folder / "int.npy", whole.data(), {3});
    const std::vector<float> values(45, 1.0f);
    write_npy(folder / "cut.npy", values.data(), {45});
    std::filesystem::resize_file(folder / "cut.npy",
                                 std::filesystem::file_size(folder / "cut.npy") - 3);
    std::ofstream(folder / "empty.npy");
    std::ofstream(folder / "text.npy") << "1 2 3 4 5 6 7 8 9\n";
    EXPECT_THROW(open_matrix(folder / "int.npy"), InputError);
    EXPECT_THROW(open_matrix(folder / "cut.npy"), InputError);
    EXPECT_THROW(open_matrix(folder / "empty.npy"), InputError);
    EXPECT_THROW(open_matrix(folder / "absent.npy"), InputError);
    EXPECT_FALSE(is_matrix_file(folder / "empty.npy"));
    EXPECT_FALSE(is_matrix_file(folder / "text.npy"));
    EXPECT_FALSE(is_matrix_file(folder.path()));
}

}  // namespace
}  // namespace pleat::cluster
