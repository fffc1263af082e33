// Replacements of glibc's functions and of fmt's and Highway's code do what these do.
#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <hwy/targets.h>
#include <sys/stat.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <locale>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

extern "C" char __libc_single_threaded;

namespace {

int g_constructed = 0;
const int g_once = ++g_constructed;

/// The function of this name in a library of the system.
template <typename Function>
Function* of_library(const char* library, const char* name) {
    void* loaded = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    return loaded != nullptr ? reinterpret_cast<Function*>(dlsym(loaded, name)) : nullptr;
}

TEST(Portable, ConstructorsRunOnce) {
    EXPECT_EQ(g_once, 1);
    EXPECT_EQ(g_constructed, 1);
}

TEST(Portable, ExceptionsAreCaught) {
    // std::locale's constructor throws inside of the static libstdc++.
    EXPECT_THROW(std::locale("no such locale"), std::runtime_error);
    EXPECT_THROW((void)std::stoi("none"), std::invalid_argument);
    std::thread([] { EXPECT_THROW(throw std::out_of_range("here"), std::out_of_range); }).join();
}

TEST(Portable, FindsTheFileOfAnInstruction) {
    auto* const system = of_library<decltype(_dl_find_object)>("libc.so.6", "_dl_find_object");
    ASSERT_NE(system, nullptr);
    ASSERT_NE(system, &_dl_find_object) << "the test must not find glibc's own function";
    for (void* address :
         {reinterpret_cast<void*>(&std::malloc), reinterpret_cast<void*>(&of_library<int()>),
          reinterpret_cast<void*>(of_library<int()>("libz.so.1", "deflate"))}) {
        dl_find_object ours{};
        dl_find_object theirs{};
        ASSERT_EQ(_dl_find_object(address, &ours), 0);
        ASSERT_EQ(system(address, &theirs), 0);
        EXPECT_EQ(ours.dlfo_eh_frame, theirs.dlfo_eh_frame);
        EXPECT_LE(ours.dlfo_map_start, address);
        EXPECT_GT(ours.dlfo_map_end, address);
    }
    int local = 0;
    dl_find_object none{};
    EXPECT_EQ(_dl_find_object(&local, &none), -1);
}

TEST(Portable, RandomNumbersDiffer) {
    std::set<std::uint32_t> numbers;
    for (int i = 0; i < 1000; ++i) {
        numbers.insert(arc4random());
    }
    EXPECT_GT(numbers.size(), 995U);
}

TEST(Portable, FilesAreDescribed) {
    struct stat found {};
    struct stat followed {};
    ASSERT_EQ(stat(PLEAT_DATA "/README.md", &found), 0);
    EXPECT_TRUE(S_ISREG(found.st_mode));
    EXPECT_GT(found.st_size, 100);
    ASSERT_EQ(lstat("/proc/self/exe", &found), 0);
    EXPECT_TRUE(S_ISLNK(found.st_mode));
    ASSERT_EQ(stat("/proc/self/exe", &followed), 0);
    EXPECT_TRUE(S_ISREG(followed.st_mode));
    const int file = open("/proc/self/exe", O_RDONLY);
    struct stat64 opened {};
    ASSERT_EQ(fstat(file, &found), 0);
    ASSERT_EQ(fstat64(file, &opened), 0);
    EXPECT_EQ(found.st_ino, followed.st_ino);
    EXPECT_EQ(opened.st_size, followed.st_size);
    EXPECT_EQ(stat("/no such file", &found), -1);
    EXPECT_EQ(errno, ENOENT);
}

TEST(Portable, WaitsEndInTimeAndWhenNotified) {
    using Clock = std::chrono::steady_clock;
    std::mutex mutex;
    std::condition_variable changed;
    bool ready = false;
    std::unique_lock lock(mutex);
    auto started = Clock::now();
    EXPECT_FALSE(
        changed.wait_until(lock, started + std::chrono::milliseconds(250), [&] { return ready; }));
    EXPECT_GE(Clock::now() - started, std::chrono::milliseconds(250));
    EXPECT_FALSE(changed.wait_until(lock, started, [&] { return ready; }));
    std::thread other([&] {
        const std::lock_guard guard(mutex);
        ready = true;
        changed.notify_one();
    });
    EXPECT_TRUE(changed.wait_for(lock, std::chrono::seconds(60), [&] { return ready; }));
    lock.unlock();
    other.join();
    EXPECT_LT(Clock::now() - started, std::chrono::seconds(30));
}

TEST(Portable, CountsOfReferencesAreAtomic) { EXPECT_EQ(__libc_single_threaded, 0); }

TEST(Portable, TextsAreThoseOfFmt) {
    EXPECT_EQ(fmt::format("{} {} {:.3g}", 0.1F, 5e-324, 1e22), "0.1 5e-324 1e+22");
    EXPECT_EQ(fmt::format(std::locale::classic(), "{:L}", 1234567), "1234567");
    EXPECT_THROW((void)fmt::format(fmt::runtime("{:d}"), "text"), fmt::format_error);
}

TEST(Portable, InstructionSetsAreThoseOfHighway) {
    auto* const system = of_library<std::int64_t()>("libhwy.so.1", "_ZN3hwy16SupportedTargetsEv");
    if (system == nullptr) {
        GTEST_SKIP() << "expected libhwy.so.1, found none";
    }
    ASSERT_NE(system, &hwy::SupportedTargets);
    const std::int64_t ours = hwy::SupportedTargets() & ~HWY_STATIC_TARGET;
    EXPECT_EQ(ours, system() & ours);
    EXPECT_NE(ours, 0) << "no processor of today lacks SSSE3 and NEON";
    hwy::DisableTargets(ours);
    EXPECT_EQ(hwy::SupportedTargets(), HWY_STATIC_TARGET);
    hwy::DisableTargets(0);
    EXPECT_EQ(hwy::SupportedTargets() & ours, ours);
}

}  // namespace
