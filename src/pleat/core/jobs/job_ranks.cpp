// Job ranks: rows as bytes, and the calls that carry them.
#include "pleat/core/jobs/job_ranks.h"

#include <fmt/format.h>

#include <random>
#include <thread>
#include <utility>

#include "pleat/core/error.h"
#include "pleat/core/files/input_file.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/loops/threads.h"
#include "pleat/core/ranks/deal.h"

namespace pleat {

static void members(Packer& pack, JobRow& row) {
    pack(row.status, row.exit_code, row.device, row.seconds, row.error, row.numbers);
}

void JobRanks::add_row_report(Index index, JobRow row) {
    if (is_leader()) return;
    const std::lock_guard lock(mutex_);
    row_reports_(index, row);
}

void JobRanks::read_row_reports(std::string_view news, const Hear& hear) {
    Packer read({reinterpret_cast<const std::uint8_t*>(news.data()), news.size()});
    while (read.has_more()) {
        Index index = 0;
        JobRow row;
        read(index, row);
        hear(index, row);
    }
}

std::string JobRanks::take_row_reports() {
    const std::lock_guard lock(mutex_);
    const Bytes news = std::exchange(row_reports_.bytes, {});
    return {news.begin(), news.end()};
}

void JobRanks::gather_row_reports(const Hear& hear) {
    const std::string own = take_row_reports();
    for (const Bytes& news :
         comm_.gather({reinterpret_cast<const std::uint8_t*>(own.data()), own.size()}, 0))
        read_row_reports({reinterpret_cast<const char*>(news.data()), news.size()}, hear);
}

void JobRanks::check_shared_folder(const std::filesystem::path& folder,
                                   std::chrono::milliseconds patience) {
    const std::filesystem::path file = folder / ".pleat-ranks";
    const auto is_seen_as = [&](const Bytes& text) {
        return is_file(file) && read_file(file) == text;
    };
    bool is_seen = true, is_missed = false;
    if (size() > 1) {
        Bytes text;
        run_on_first_rank(comm_, [&] {
            const std::string number = fmt::format("{:x}\n", std::random_device()());
            text.assign(number.begin(), number.end());
            write_text(file, number);
        });
        pleat::share(comm_, text);
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

std::vector<Index> JobRanks::share(std::vector<Index> indices) {
    pleat::share(comm_, indices);
    return indices;
}

void JobRanks::deal(int workers, Index count, const Work& work, const Hear& hear) {
    if (size() == 1) return run_jobs(workers, count, work.run, work.is_stopped);
    pleat::deal(comm_, workers, count,
                {.work = work.run,
                 .news = [this] { return take_row_reports(); },
                 .hear = [&](std::string_view news) { read_row_reports(news, hear); },
                 .is_stopped = work.is_stopped,
                 .stop = work.stop});
}

void JobRanks::run_ranks_in_turn(const std::function<void()>& action) {
    double turns = comm_.local_size();
    comm_.raise({&turns, 1});
    for (int turn = 0; turn < static_cast<int>(turns); ++turn) {
        if (comm_.local_rank() == turn) action();
        comm_.barrier();
    }
}

}  // namespace pleat
