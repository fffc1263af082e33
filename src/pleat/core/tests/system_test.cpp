// Tests of the system's answers: those of Linux in test_core, those of POSIX in
// test_portable_system.
#include "pleat/core/hardware/system.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <string>
#include <vector>

#include "pleat/core/tests/temporary_folder.h"

namespace pleat {
namespace {

TEST(System, MemoryIsPlausible) {
    constexpr std::int64_t kMebibyte = 1 << 20;
    EXPECT_GE(system::usable_cpus(), 1);
    EXPECT_GT(system::machine_memory(), kMebibyte);
    const std::vector<char> bytes(128 * kMebibyte, 1);
    EXPECT_GE(system::peak_memory(), std::ssize(bytes));
    EXPECT_LT(system::peak_memory(), 1024 * std::ssize(bytes));
    EXPECT_GE(system::own_memory().unshared, std::ssize(bytes));
    EXPECT_GE(system::own_memory().address_space, system::own_memory().unshared);
    EXPECT_EQ(bytes[bytes.size() / 2], 1);
}

template <class Real>
void expect_numbers_of_the_standard_library() {
    for (const std::string text : {"1",
                                   "-1.5e3x",
                                   "0.1",
                                   "1e-320",
                                   "1e-400",
                                   "-1e400",
                                   "+1",
                                   " 1",
                                   "",
                                   "-",
                                   ".",
                                   ".5",
                                   "5.",
                                   "1e",
                                   "1e+",
                                   "0x10",
                                   "inf",
                                   "-inf",
                                   "nan",
                                   "Infinity",
                                   "infinite",
                                   "1,5",
                                   "1.5.2",
                                   "--1",
                                   "1-2",
                                   "1e5e5",
                                   "e5",
                                   "123456789012345678901234567890",
                                   "4.9406564584124654e-324",
                                   "2.2250738585072011e-308",
                                   "1e-40",
                                   "1.17549429e-38",
                                   "16777217",
                                   "3.5e38"}) {
        Real value = 7, expected = 7;
        const auto read = system::read_real(text, value);
        const auto standard = std::from_chars(text.data(), text.data() + text.size(), expected);
        EXPECT_EQ(read.ptr - text.data(), standard.ptr - text.data()) << text;
        EXPECT_EQ(read.ec, standard.ec) << text;
        if (!std::isnan(expected)) {
            EXPECT_EQ(value, expected) << text;
        }
        EXPECT_EQ(std::isnan(value), std::isnan(expected)) << text;
    }
}

TEST(System, ReadsNumbersAsTheStandardLibrary) {
    expect_numbers_of_the_standard_library<double>();
    expect_numbers_of_the_standard_library<float>();
}

TEST(System, BootsHaveOneName) {
    EXPECT_FALSE(system::boot_id().empty());
    EXPECT_EQ(system::boot_id(), system::boot_id());
}

TEST(System, FlushesFilesAndTellsWhenTheyChanged) {
    const test::TemporaryFolder folder;
    const auto path = folder / "file";
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT, 0600);
    ASSERT_GE(descriptor, 0);
    ASSERT_EQ(::write(descriptor, "ab", 2), 2);
    system::begin_flush(descriptor, 0, 2);
    EXPECT_TRUE(system::flush_data(descriptor));
    struct stat about {};
    ASSERT_EQ(::fstat(descriptor, &about), 0);
    constexpr timespec kChange{.tv_sec = 1234567890, .tv_nsec = 123000000};
    const timespec times[] = {kChange, kChange};
    ASSERT_EQ(::futimens(descriptor, times), 0);
    ASSERT_EQ(::fstat(descriptor, &about), 0);
    EXPECT_EQ(system::change_time(about).tv_sec, kChange.tv_sec);
    EXPECT_EQ(system::change_time(about).tv_nsec, kChange.tv_nsec);
    ::close(descriptor);
    EXPECT_FALSE(system::flush_data(descriptor));
}

TEST(System, ExchangesTwoFoldersOrLeavesThem) {
    const test::TemporaryFolder folder;
    std::filesystem::create_directory(folder / "a");
    std::filesystem::create_directory(folder / "b");
    test::spill(folder / "a/of_a", "");
    const bool exchanged = system::exchange_paths(folder / "a", folder / "b");
    if (!exchanged) {
        EXPECT_EQ(errno, ENOTSUP);
    }
    EXPECT_EQ(std::filesystem::exists(folder / "b" / "of_a"), exchanged);
    EXPECT_NE(std::filesystem::exists(folder / "a" / "of_a"), exchanged);
}

}  // namespace
}  // namespace pleat
