// Tests of the system's answers: those of Linux in test_core, those of POSIX in
// test_portable_system.
#include "pleat/core/hardware/system.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
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
    if (!exchanged) EXPECT_EQ(errno, ENOTSUP);
    EXPECT_EQ(std::filesystem::exists(folder / "b" / "of_a"), exchanged);
    EXPECT_NE(std::filesystem::exists(folder / "a" / "of_a"), exchanged);
}

}  // namespace
}  // namespace pleat
