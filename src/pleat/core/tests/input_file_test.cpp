// Tests of input files: pipes are read once and hashed, files are checked before they are read.
#include "pleat/core/files/input_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

#include "pleat/core/error.h"
#include "pleat/core/tests/temporary_folder.h"

namespace pleat {
namespace {

std::string sha256(const std::string& text) { return Sha256().add(text.data(), text.size()).hex(); }

/// A pipe that a thread fills in small pieces. The thread may write after the last reader has left.
class FilledPipe {
public:
    explicit FilledPipe(std::string bytes) {
        std::signal(SIGPIPE, SIG_IGN);
        EXPECT_EQ(::pipe(ends_), 0);
        writer_ = std::thread([this, bytes = std::move(bytes)] {
            for (std::size_t at = 0; at < bytes.size(); at += 1000)
                if (::write(ends_[1], bytes.data() + at,
                            std::min<std::size_t>(1000, bytes.size() - at)) < 0)
                    break;
            ::close(ends_[1]);
        });
    }
    ~FilledPipe() {
        ::close(ends_[0]);
        writer_.join();
    }
    std::filesystem::path path() const { return "/dev/fd/" + std::to_string(ends_[0]); }

private:
    int ends_[2] = {};
    std::thread writer_;
};

std::string refusal_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

TEST(InputFile, HashesAPipeWhileItIsRead) {
    const InputLedger ledger;
    const std::string text(50'000, 'x');
    const FilledPipe pipe(text);
    const std::vector<std::uint8_t> bytes = read_file(pipe.path());
    EXPECT_EQ(std::string(bytes.begin(), bytes.end()), text);
    const auto hash = InputLedger::hash_of(pipe.path());
    ASSERT_TRUE(hash);
    EXPECT_EQ(hash->sha256, sha256(text));
    EXPECT_EQ(hash->bytes, 50'000);
    EXPECT_EQ(hash->of, "");
}

TEST(InputFile, SaysThatAPipeWasReadInPart) {
    const InputLedger ledger;
    const FilledPipe pipe(std::string(5'000, 'x'));
    InputFile file(pipe.path());
    char some[1234];
    // The pipe is filled in pieces of 1000 bytes.
    EXPECT_EQ(file.read(some, sizeof some), 1234);
    const auto hash = InputLedger::hash_of(pipe.path());
    ASSERT_TRUE(hash);
    EXPECT_EQ(hash->sha256, sha256(std::string(1234, 'x')));
    EXPECT_NE(hash->of, "");
}

TEST(InputFile, RefusesToOpenAPipeTwice) {
    const InputLedger ledger;
    const FilledPipe pipe("text");
    const InputFile first(pipe.path());
    EXPECT_NE(refusal_of([&] { InputFile second(pipe.path()); }).find("cannot be read twice"),
              std::string::npos);
}

TEST(InputFile, OpensARegularFileAsOftenAsWanted) {
    const InputLedger ledger;
    const test::TemporaryFolder folder;
    std::ofstream(folder / "a") << "text";
    EXPECT_EQ(read_file(folder / "a").size(), 4u);
    EXPECT_EQ(read_file(folder / "a").size(), 4u);
    EXPECT_FALSE(InputLedger::hash_of(folder / "a"));
}

TEST(InputFile, RefusesMoreThanTheLimitOfAnEndlessDevice) {
    EXPECT_NE(
        refusal_of([] { read_file("/dev/zero", 1 << 20); }).find("expected at most 1048576 bytes"),
        std::string::npos);
}

TEST(InputFile, NamesTheFirstFileThatIsMissing) {
    const test::TemporaryFolder folder;
    std::ofstream(folder / "a") << "text";
    const std::string a = folder / "a", b = folder / "b";
    EXPECT_EQ(refusal_of([&] { check_readable({"", "-", a}); }), "");
    EXPECT_EQ(refusal_of([&] {
                  check_readable({a, b});
              }),
              b + ": expected a file, found nothing of that name");
    EXPECT_EQ(refusal_of([&] { check_readable({folder.path().string()}); }),
              folder.path().string() + ": expected a file, found a directory");
}

TEST(InputFile, RefusesPipesWhereFilesAreReadTwice) {
    const test::TemporaryFolder folder;
    const std::string pipe = folder / "pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_NE(refusal_of([&] {
                  refuse_pipes({"", pipe}, "two stages read it");
              }).find("two stages read it"),
              std::string::npos);
    EXPECT_EQ(refusal_of([&] { check_readable({pipe}); }), "") << "a pipe is not opened";
}

TEST(HashInput, TakesSizeTimeAndEndsOfLargeFiles) {
    const test::TemporaryFolder folder;
    const std::string path = folder / "a";
    const std::string text(5 << 20, 'x');
    std::ofstream(path, std::ios::binary) << text;
    EXPECT_EQ(hash_input(path).sha256, sha256(text));
    EXPECT_EQ(hash_input(path).of, "");
    const FileHash large = hash_input(path, 1 << 20);
    EXPECT_EQ(large.bytes, 5 << 20);
    EXPECT_NE(large.of, "");
    EXPECT_EQ(hash_input(path, 1 << 20).sha256, large.sha256);
    // Another byte in the middle comes with another time.
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(2 << 20);
    file.put('y');
    file.close();
    std::filesystem::last_write_time(
        path, std::filesystem::last_write_time(path) + std::chrono::seconds(1));
    EXPECT_NE(hash_input(path, 1 << 20).sha256, large.sha256);
}

}  // namespace
}  // namespace pleat
