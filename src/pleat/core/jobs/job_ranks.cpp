// Job ranks: rows as bytes, and the calls that carry them.
#include "pleat/core/jobs/job_ranks.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <random>
#include <thread>
#include <utility>

#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/loops/threads.h"
#include "pleat/core/ranks/deal.h"

namespace pleat {

namespace {

void append(std::string& news, std::int64_t number) {
    news.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void append(std::string& news, const std::string& text) {
    append(news, std::ssize(text));
    news += text;
}

std::int64_t take_number(std::string_view& news) {
    std::int64_t number = 0;
    std::memcpy(&number, news.data(), sizeof number);
    news.remove_prefix(sizeof number);
    return number;
}

std::string take_text(std::string_view& news) {
    const auto size = static_cast<std::size_t>(take_number(news));
    std::string text(news.substr(0, size));
    news.remove_prefix(size);
    return text;
}

}  // namespace

void JobRanks::add_news(Index index, const JobRow& row) {
    if (is_leader()) return;
    const std::lock_guard lock(mutex_);
    append(news_, index);
    append(news_, static_cast<std::int64_t>(row.status));
    append(news_, static_cast<std::int64_t>(row.exit_code));
    for (const std::string* text : {&row.device, &row.seconds, &row.error}) append(news_, *text);
    append(news_, std::ssize(row.numbers));
    for (const std::string& number : row.numbers) append(news_, number);
}

void JobRanks::read_news(std::string_view news, const Hear& hear) {
    while (!news.empty()) {
        const Index index = take_number(news);
        JobRow row;
        row.status = static_cast<JobStatus>(take_number(news));
        row.exit_code = static_cast<int>(take_number(news));
        for (std::string* text : {&row.device, &row.seconds, &row.error}) *text = take_text(news);
        row.numbers.resize(static_cast<std::size_t>(take_number(news)));
        for (std::string& number : row.numbers) number = take_text(news);
        hear(index, row);
    }
}

std::string JobRanks::take_news() {
    const std::lock_guard lock(mutex_);
    return std::exchange(news_, {});
}

void JobRanks::gather_news(const Hear& hear) {
    const std::string own = take_news();
    for (const std::vector<std::uint8_t>& news :
         comm_.gather({reinterpret_cast<const std::uint8_t*>(own.data()), own.size()}, 0))
        read_news({reinterpret_cast<const char*>(news.data()), news.size()}, hear);
}

void JobRanks::check_shared(const std::filesystem::path& folder,
                            std::chrono::milliseconds patience) {
    const std::filesystem::path file = folder / ".pleat-ranks";
    const auto is_seen_as = [&](const std::vector<std::uint8_t>& text) {
        return is_file(file) && read_file(file) == text;
    };
    bool is_seen = true, is_missed = false;
    if (size() > 1) {
        std::vector<std::uint8_t> text;
        lead(comm_, [&] {
            const std::string number = fmt::format("{:x}\n", std::random_device()());
            text.assign(number.begin(), number.end());
            write_text(file, number);
        });
        comm_.broadcast(text, 0);
        const auto limit = std::chrono::steady_clock::now() + patience;
        while (!(is_seen = is_seen_as(text)) && std::chrono::steady_clock::now() < limit)
            std::this_thread::sleep_for(patience / 100);
        is_missed = comm_.any(!is_seen);
    }
    std::error_code absent;
    if (is_leader()) std::filesystem::remove(file, absent);  // that of a killed call, too
    if (!is_seen)
        throw OutputError(fmt::format(
            "{}: expected a folder that all ranks see, found a rank without it; choose one on a "
            "file system that the machines share",
            folder.string()));
    if (is_missed) comm_.barrier();  // throws
}

std::vector<Index> JobRanks::share(const std::vector<Index>& indices) {
    std::vector<std::uint8_t> bytes(is_leader() ? indices.size() * sizeof(Index) : 0);
    if (!bytes.empty()) std::memcpy(bytes.data(), indices.data(), bytes.size());
    comm_.broadcast(bytes, 0);
    std::vector<Index> shared(bytes.size() / sizeof(Index));
    if (!bytes.empty()) std::memcpy(shared.data(), bytes.data(), bytes.size());
    return shared;
}

void JobRanks::deal(int workers, Index count, const Work& work, const Hear& hear) {
    if (size() == 1) return run_jobs(workers, count, work.run, work.is_stopped);
    pleat::deal(comm_, workers, count,
                {.work = work.run,
                 .news = [this] { return take_news(); },
                 .hear = [&](std::string_view news) { read_news(news, hear); },
                 .is_stopped = work.is_stopped,
                 .stop = work.stop});
}

void JobRanks::take_turns(const std::function<void()>& action) {
    double turns = comm_.local_size();
    comm_.raise({&turns, 1});
    for (int turn = 0; turn < static_cast<int>(turns); ++turn) {
        if (comm_.local_rank() == turn) action();
        comm_.barrier();
    }
}

}  // namespace pleat
