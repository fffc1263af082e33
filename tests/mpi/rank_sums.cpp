// A small engine for tests of ranks: sums over tiles, with failures on demand.
//
// rank_sums FOLDER TILES MILLISECONDS [FAILURE RANK TILE]
//
// The leading rank prints the totals' hash and the number of tiles computed in this run.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>

#include "pleat/core/error.h"
#include "pleat/core/files/hash.h"
#include "pleat/core/files/output_file.h"
#include "pleat/core/loops/additive_checkpoint.h"
#include "pleat/core/ranks/deal.h"
#include "pleat/core/run/run_directory.h"
#include "pleat/core/terminal/progress_terminal.h"
#include "rank_main.h"

namespace {

using namespace pleat;
using namespace pleat::program;

struct Options {
    std::filesystem::path folder;
    Index tiles = 0;
    std::chrono::milliseconds length{0};
    std::string failure;
    int rank = -1;
    Index tile = -1;
};

struct Sums {
    std::vector<std::int64_t> sums = std::vector<std::int64_t>(50'000);
    std::vector<double> maxima = std::vector<double>(100, -1.0);

    void take(const Tile& tile) {
        std::mt19937_64 random(static_cast<std::uint64_t>(tile.id));
        for (std::int64_t& sum : sums) sum += static_cast<std::int64_t>(random() >> 8);
        for (double& most : maxima) most = std::max(most, static_cast<double>(random()) / 7.0);
    }
    std::string hash() const {
        return Sha256()
            .field(View<const std::int64_t, 1>(sums.data(), sums.size()))
            .field(View<const double, 1>(maxima.data(), maxima.size()))
            .hex();
    }
};

class Job {
public:
    Job(const Options& options, Ranks& ranks) : options_(options), ranks_(ranks) {}

    void run() {
        fail_if("early");
        fail_if("alone");
        if (options_.failure == "alone") std::this_thread::sleep_for(std::chrono::seconds(50));
        Context context;
        context.comm = &ranks_.comm();
        context.checkpoint_seconds = 0.0;
        RunDirectory run({.path = options_.folder, .command = "sums", .comm = context.comm});
        context.checkpoint = run.checkpoint();
        const auto shown = ranks_.progress(true);
        context.progress = run.watch(shown.get());
        const std::string hash = sum(context);
        run_on_first_rank(ranks_.comm(), [&] {
            fail_if("late");
            write_text(run.output("hash.txt"), hash);
            run.finish();
        });
        const double computed = ranks_.comm().sum(computed_);
        if (ranks_.is_leader()) std::printf("%s %.0f\n", hash.c_str(), computed);
    }

private:
    void fail_if(std::string_view failure) const {
        if (options_.failure == failure && ranks_.comm().rank() == options_.rank)
            throw InputError(fmt::format("failed as asked: {}", failure));
    }

    std::string sum(const Context& context) {
        std::vector<Tile> tiles;
        for (Index id = 0; id < options_.tiles; ++id) tiles.push_back({.id = id, .items = 1});
        Sums sums;
        AdditiveCheckpoint saved(context, "sums", fmt::format("{} tiles", options_.tiles),
                                 options_.tiles);
        saved.add("sums", sums.sums);
        saved.raise("maxima", sums.maxima);
        saved.resume();
        sweep(context, "sums", tiles, saved, [&](const Tile& tile, View<float, 2>) {
            std::this_thread::sleep_for(options_.length);
            sums.take(tile);
            if (tile.id == options_.tile) fail_if("tile");
            if (tile.id == options_.tile && options_.failure == "kill") ::raise(SIGKILL);
            ++computed_;
        });
        fail_if("after");
        saved.total();
        return sums.hash();
    }

    Options options_;
    Ranks& ranks_;
    double computed_ = 0.0;
};

}  // namespace

int main(int count, char** values) {
    return rank_main([&](Ranks& ranks) {
        if (count != 4 && count != 7) throw UsageError("expected 3 or 6 arguments, found others");
        Options options;
        options.folder = values[1];
        options.tiles = std::stoll(values[2]);
        options.length = std::chrono::milliseconds(std::stoi(values[3]));
        if (count == 7) {
            options.failure = values[4];
            options.rank = std::stoi(values[5]);
            options.tile = std::stoll(values[6]);
        }
        install_interrupt_handler();
        Job(options, ranks).run();
    });
}
