// Tests of NPY and NPZ: round trips, NumPy's own files, damage of every kind, full disks.
#include "pleat/core/files/npy.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "pleat/core/array.h"
#include "pleat/core/error.h"
#include "pleat/core/files/zip.h"
#include "pleat/core/tests/temporary_folder.h"

namespace pleat {
namespace {

using test::error_text;
using test::slurp;
using test::spill;
using test::TemporaryFolder;

template <class T>
std::vector<T> random_values(std::size_t count, std::mt19937_64& random) {
    std::vector<T> values(count);
    for (T& value : values) {
        // Any bit pattern of an integer; finite floats, so that equality means equal bits.
        if constexpr (std::is_floating_point_v<T>)
            value = static_cast<T>(std::normal_distribution<double>()(random));
        else
            value = static_cast<T>(random());
    }
    return values;
}

std::vector<Index> random_shape(std::mt19937_64& random) {
    std::vector<Index> shape(random() % 5);
    for (Index& extent : shape) extent = static_cast<Index>(random() % 7);
    return shape;
}

std::size_t count_of(const std::vector<Index>& shape) {
    std::size_t n = 1;
    for (const Index extent : shape) n *= static_cast<std::size_t>(extent);
    return n;
}

template <class T>
class NpyRoundTrip : public testing::Test {};
using AllTypes = testing::Types<float, double, std::int8_t, std::uint8_t, std::int32_t,
                                std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(NpyRoundTrip, AllTypes);

TYPED_TEST(NpyRoundTrip, KeepsShapeTypeAndBits) {
    TemporaryFolder folder;
    std::mt19937_64 random(7);
    for (int trial = 0; trial < 40; ++trial) {
        const auto shape = random_shape(random);
        const auto values = random_values<TypeParam>(count_of(shape), random);
        write_npy(folder / "a.npy", values.data(), shape);
        const NpyArray array = read_npy(folder / "a.npy");
        EXPECT_EQ(array.shape, shape);
        EXPECT_EQ(array.as<TypeParam>("a"), values);
        EXPECT_EQ(slurp(folder / "a.npy").size() % sizeof(TypeParam), 0u);
    }
    EXPECT_EQ(folder.names(), std::vector<std::string>{"a.npy"});
}

TYPED_TEST(NpyRoundTrip, ArchivesKeepEveryMember) {
    TemporaryFolder folder;
    std::mt19937_64 random(8);
    for (const bool compress : {false, true}) {
        for (int trial = 0; trial < 20; ++trial) {
            std::vector<std::vector<Index>> shapes(random() % 5);
            std::vector<std::vector<TypeParam>> values;
            NpzWriter writer(folder / "a.npz", compress);
            for (std::size_t i = 0; i < shapes.size(); ++i) {
                shapes[i] = random_shape(random);
                values.push_back(random_values<TypeParam>(count_of(shapes[i]), random));
                writer.add("x" + std::to_string(i), values[i].data(), shapes[i]);
            }
            writer.close();
            const NpzReader reader(folder / "a.npz");
            EXPECT_EQ(reader.names().size(), shapes.size());
            for (std::size_t i = 0; i < shapes.size(); ++i) {
                const NpyArray array = reader.get("x" + std::to_string(i));
                EXPECT_EQ(array.shape, shapes[i]);
                EXPECT_EQ(array.as<TypeParam>("x"), values[i]);
            }
        }
    }
}

TEST(Npz, HoldsScalarsTextAndViews) {
    TemporaryFolder folder;
    Array<float, 2> matrix(2, 3);
    matrix(1, 2) = 5.0f;
    {
        NpzWriter writer(folder / "a.npz");
        writer.add_scalar("step", 12);
        writer.add_scalar("gap", 0.25);
        writer.add_text("problem", "h\xC3\xA9");
        writer.add_text("nothing", "");
        writer.add("matrix", matrix.view());
        writer.close();
    }
    const NpzReader reader(folder / "a.npz");
    EXPECT_EQ(reader.integer("step"), 12);
    EXPECT_EQ(reader.scalar("gap"), 0.25);
    EXPECT_EQ(reader.text("problem"), "h\xC3\xA9");
    EXPECT_EQ(reader.text("nothing"), "");
    EXPECT_EQ(reader.get("matrix").as<double>("m")[5], 5.0);
    EXPECT_TRUE(reader.has("matrix"));
    EXPECT_FALSE(reader.has("matri"));
    const std::string text = error_text<InputError>([&] { reader.get("matri"); });
    EXPECT_NE(text.find("a.npz: expected an array 'matri', found"), std::string::npos) << text;
    error_text<InputError>([&] { reader.scalar("matrix"); });
    error_text<InputError>([&] { reader.integer("gap"); });
    error_text<InputError>([&] { reader.text("matrix"); });
}

TEST(Npz, ConversionsRefuseWhatDoesNotFit) {
    NpyArray array;
    array.shape = {1};
    const auto set = [&](auto value, std::string dtype) {
        array.dtype = dtype;
        array.bytes.resize(sizeof value);
        std::memcpy(array.bytes.data(), &value, sizeof value);
    };
    set(std::int64_t{-1}, "<i8");
    error_text<InputError>([&] { array.as<std::uint64_t>("a"); });
    error_text<InputError>([&] { array.as<std::uint8_t>("a"); });
    EXPECT_EQ(array.as<float>("a")[0], -1.0f);
    set(std::int64_t{128}, "<i8");
    error_text<InputError>([&] { array.as<std::int8_t>("a"); });
    EXPECT_EQ(array.as<std::uint8_t>("a")[0], 128);
    set(std::uint64_t{1} << 63, "<u8");
    error_text<InputError>([&] { array.as<std::int64_t>("a"); });
    set(0.5, "<f8");
    error_text<InputError>([&] { array.as<std::int32_t>("a"); });
    set(0x1p63, "<f8");
    error_text<InputError>([&] { array.as<std::int64_t>("a"); });
    EXPECT_EQ(array.as<std::uint64_t>("a")[0], std::uint64_t{1} << 63);
    set(-0x1p63, "<f8");
    EXPECT_EQ(array.as<std::int64_t>("a")[0], std::numeric_limits<std::int64_t>::min());
    set(std::nan(""), "<f8");
    error_text<InputError>([&] { array.as<std::int32_t>("a"); });
}

TEST(Npz, EveryTruncationAndEveryFlippedByteOfDataIsAnError) {
    TemporaryFolder folder;
    const std::vector<double> values = {1.0, 2.0, 3.0};
    for (const bool compress : {false, true}) {
        NpzWriter writer(folder / "a.npz", compress);
        writer.add("x", values.data(), {3});
        writer.add_scalar("n", 3);
        writer.close();
        const std::string whole = slurp(folder / "a.npz");
        for (std::size_t n = 0; n < whole.size(); ++n) {
            spill(folder / "cut.npz", whole.substr(0, n));
            EXPECT_THROW(NpzReader(folder / "cut.npz"), InputError) << n;
        }
        // A flipped byte is noticed, or lies where no content is: never a crash, never wrong
        // values.
        for (std::size_t n = 0; n < whole.size(); ++n) {
            std::string broken = whole;
            broken[n] = static_cast<char>(broken[n] ^ 0xFF);
            spill(folder / "broken.npz", broken);
            try {
                EXPECT_EQ(NpzReader(folder / "broken.npz").get("x").as<double>("x"), values) << n;
            } catch (const InputError&) {
            }
        }
    }
}

TEST(Npy, EveryTruncationIsAnError) {
    TemporaryFolder folder;
    const std::vector<std::int32_t> values = {1, 2, 3};
    write_npy(folder / "a.npy", values.data(), {3});
    const std::string whole = slurp(folder / "a.npy");
    for (std::size_t n = 0; n < whole.size(); ++n) {
        spill(folder / "cut.npy", whole.substr(0, n));
        EXPECT_THROW(read_npy(folder / "cut.npy"), InputError) << n;
    }
    spill(folder / "long.npy", whole + "x");
    EXPECT_THROW(read_npy(folder / "long.npy"), InputError);
}

std::string npy_text(int version, std::string dictionary, const std::string& data) {
    dictionary += '\n';
    std::string text = "\x93NUMPY";
    text += static_cast<char>(version);
    text += '\0';
    for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
        text += static_cast<char>(dictionary.size() >> (8 * i));
    return text + dictionary + data;
}

TEST(Npy, ReadsFormatsOrdersAndKeysOfNumpy) {
    TemporaryFolder folder;
    const auto read = [&](int version, const std::string& dictionary, const std::string& data) {
        spill(folder / "a.npy", npy_text(version, dictionary, data));
        return read_npy(folder / "a.npy");
    };
    const std::string data = {0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6};
    for (const int version : {1, 2, 3}) {
        const auto big =
            read(version, "{'descr': '>i2', 'fortran_order': False, 'shape': (2, 3), }", data);
        EXPECT_EQ(big.dtype, "<i2");
        EXPECT_EQ(big.as<std::int32_t>("a"), (std::vector<std::int32_t>{1, 2, 3, 4, 5, 6}));
    }
    const auto columns =
        read(1, "{\"shape\": (2L,3L), \"descr\": \">u2\", \"fortran_order\": True}", data);
    EXPECT_EQ(columns.as<std::int32_t>("a"), (std::vector<std::int32_t>{1, 3, 5, 2, 4, 6}));
    const auto truth = read(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (), }", "\x01");
    EXPECT_EQ(truth.as<std::uint8_t>("a"), std::vector<std::uint8_t>{1});
}

TEST(Npy, RefusesOtherHeaders) {
    TemporaryFolder folder;
    const std::vector<std::string> dictionaries = {
        "",
        "{",
        "{}",
        "[1]",
        "{'descr': '<f8'}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': 3, }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1, }",
        "{'descr': '<f8', 'fortran_order': Maybe, 'shape': (1,), }",
        "{'descr': '<f8, 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '<f2', 'fortran_order': False, 'shape': (4,), }",
        "{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '<U2', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), } x",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 16), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), 'more': 1}"};
    for (const std::string& dictionary : dictionaries) {
        spill(folder / "a.npy", npy_text(1, dictionary, "12345678"));
        EXPECT_THROW(read_npy(folder / "a.npy"), InputError) << dictionary;
    }
    spill(folder / "a.npy", npy_text(4, "{}", ""));
    EXPECT_THROW(read_npy(folder / "a.npy"), InputError);
    EXPECT_THROW(read_npy(folder / "absent.npy"), InputError);
    EXPECT_THROW(read_npy(folder.path()), InputError);
}

TEST(Npz, NothingStaysWithoutClose) {
    TemporaryFolder folder;
    {
        NpzWriter writer(folder / "a.npz");
        writer.add_scalar("x", 1);
    }
    EXPECT_TRUE(folder.names().empty());
}

TEST(Npz, AnOldFileStaysWholeUntilTheNewOneIs) {
    TemporaryFolder folder;
    const std::filesystem::path path = folder / "a.npz";
    NpzWriter first(path);
    first.add_scalar("x", 1);
    first.close();
    NpzWriter second(path);
    second.add_scalar("x", 2);
    EXPECT_EQ(NpzReader(path).integer("x"), 1);
    const NpzReader before(path);
    second.close();
    EXPECT_EQ(NpzReader(path).integer("x"), 2);
    EXPECT_EQ(before.integer("x"), 1);
}

TEST(Npz, AFullDiskNamesTheFileAndLeavesNothing) {
    TemporaryFolder folder;
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        // A limit on file sizes fails writes as a full disk does.
        ::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{100'000, 100'000};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        int status = 1;
        try {
            const std::vector<double> values(100'000);
            NpzWriter writer(folder / "a.npz");
            writer.add("x", values.data(), {100'000});
            writer.close();
        } catch (const OutputError& error) {
            status = std::strstr(error.what(), "a.npz: writing failed: ") != nullptr ? 0 : 2;
        } catch (...) {
            status = 3;
        }
        ::_exit(status);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_TRUE(folder.names().empty());
    if (std::filesystem::exists("/dev/full")) {
        error_text<OutputError>([] { write_npy("/dev/full", std::vector<float>(9).data(), {9}); });
        EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
    }
    error_text<OutputError>([&] { NpzWriter writer(folder / "absent/a.npz"); });
    error_text<OutputError>([&] { NpzWriter writer(folder.path()); });
}

TEST(Zip, RefusesNamesWithControlCharacters) {
    TemporaryFolder folder;
    for (const char control : {'\0', '\n', '\x1b', '\x7f'}) {
        ZipWriter writer(folder / "a.zip", false);
        writer.begin(std::string("na") + control + "me.npy", 1);
        writer.append("x", 1);
        writer.end();
        writer.close();
        const std::string text =
            error_text<InputError>([&] { NpzReader reader(folder / "a.zip"); });
        EXPECT_NE(text.find("a member's name with control characters"), std::string::npos) << text;
    }
}

TEST(Zip, RefusesAPipeWithoutWaitingForIt) {
    TemporaryFolder folder;
    ASSERT_EQ(::mkfifo((folder / "a.npz").c_str(), 0600), 0);
    ::alarm(20);
    error_text<InputError>([&] { NpzReader reader(folder / "a.npz"); });
    ::alarm(0);
}

TEST(Zip, Zip64FieldsAreWrittenAndRead) {
    TemporaryFolder folder;
    for (const bool compress : {false, true}) {
        for (const std::uint64_t from : {0u, 40u, 120u}) {
            ZipWriter writer(folder / "a.zip", compress, from);
            for (const std::string name : {"first", "second"}) {
                writer.begin(name, 100);
                writer.append(std::string(60, name[0]).data(), 60);
                writer.append(std::string(40, 'z').data(), 40);
                writer.end();
            }
            writer.close();
            const ZipReader reader(folder / "a.zip");
            ASSERT_EQ(reader.members().size(), 2u);
            for (const auto& [name, member] : reader.members()) {
                const auto bytes = reader.read(member);
                EXPECT_EQ(std::string(bytes.begin(), bytes.end()),
                          std::string(60, name[0]) + std::string(40, 'z'));
            }
        }
    }
}

/// Runs a line of Python with NumPy in `folder`; false when there is no such Python.
bool has_numpy() { return std::system("/usr/bin/python3 -c 'import numpy' >/dev/null 2>&1") == 0; }

TEST(Npz, NumpyReadsWhatIsWrittenAndTheOtherWayRound) {
    if (!has_numpy()) GTEST_SKIP() << "no /usr/bin/python3 with numpy";
    TemporaryFolder folder;
    const std::vector<double> values = {1.5, -2.0, 1e300, 0.1, 5.0, 6.0};
    const std::vector<std::int8_t> small = {-1, 2};
    for (const std::string name : {"stored.npz", "deflated.npz"}) {
        NpzWriter writer(folder / name, name == "deflated.npz");
        writer.add("values", values.data(), {2, 3});
        writer.add("small", small.data(), {2});
        writer.add_scalar("n", 7);
        writer.close();
    }
    write_npy(folder / "single.npy", small.data(), {1, 2, 1});
    ZipWriter large(folder / "zip64.zip", true, 0);
    large.begin("a", 3);
    large.append("abc", 3);
    large.end();
    large.close();
    spill(folder / "check.py", R"(
import os, sys, zipfile
import numpy as np
os.chdir(sys.argv[1])
for name in ("stored.npz", "deflated.npz"):
    assert zipfile.ZipFile(name).testzip() is None
    f = np.load(name)
    assert f["values"].shape == (2, 3) and f["values"].dtype == np.float64
    assert f["values"].ravel().tolist() == [1.5, -2.0, 1e300, 0.1, 5.0, 6.0]
    assert f["small"].dtype == np.int8 and f["small"].tolist() == [-1, 2]
    assert f["n"].shape == () and f["n"] == 7
assert np.load("single.npy").shape == (1, 2, 1)
assert zipfile.ZipFile("zip64.zip").read("a") == b"abc"
a = np.arange(24, dtype=">f4").reshape(2, 3, 4)
np.savez("theirs.npz", a=a, t=np.asfortranarray(a), s=np.int16(-3))
np.savez_compressed("packed.npz", a=a, t=np.asfortranarray(a), s=np.int16(-3))
)");
    const std::string command =
        "/usr/bin/python3 " + (folder / "check.py").string() + " " + folder.path().string();
    ASSERT_EQ(std::system(command.c_str()), 0);
    for (const std::string name : {"theirs.npz", "packed.npz"}) {
        const NpzReader reader(folder / name);
        EXPECT_EQ(reader.integer("s"), -3);
        const auto a = reader.get("a").as<float>("a");
        ASSERT_EQ(a.size(), 24u);
        for (int i = 0; i < 24; ++i) EXPECT_EQ(a[i], static_cast<float>(i));
        EXPECT_EQ(reader.get("t").as<float>("t"), a);
        EXPECT_EQ(reader.get("t").shape, (std::vector<Index>{2, 3, 4}));
    }
}

TEST(Npy, MessagesHoldNoUnprintableBytesOfAFile) {
    const std::string key = "{'a\nb\x01\xc3': 1}" + std::string(60, ' ') + "\n";
    const std::string type = "{'descr': '<f\n9', 'fortran_order': False, 'shape': (1,)}\n";
    for (const std::string& header : {key, type}) {
        std::string text("\x93NUMPY\x01\x00", 8);
        text += static_cast<char>(header.size());
        text += '\0';
        text += header;
        const std::string told = error_text<InputError>([&] {
            parse_npy({text.begin(), text.end()}, "x.npy");
        });
        EXPECT_NE(told.find("found"), std::string::npos) << told;
        for (const char c : told) EXPECT_TRUE(c >= ' ' && c < 0x7f) << told;
    }
}

}  // namespace
}  // namespace pleat
