// Times the stages of pleat mutants beyond reading the model, as JSON.
//
// bench_mutants [COLUMNS [ROWS [THREADS]]]: a random model of this many columns (500) of proteins
// with the gap, and a table of this many mutants (100,000) with 1 to 8 substitutions and two
// columns of measurements. Wall and CPU seconds of each stage, the least of five; CPU seconds are
// those of all threads, in the program's code and in the system's.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "pleat/core/loops/parallel.h"
#include "pleat/core/run/run_directory.h"
#include "pleat/workflows/mutants/mutants.h"
#include "pleat/workflows/mutants/output.h"

namespace {

using namespace pleat;

couplings::SavedModel random_model(Index columns) {
    std::mt19937 random(1);
    const auto uniform = [&] { return static_cast<float>(random() % 20000) / 10000.0f - 1.0f; };
    const Alphabet& alphabet = Alphabet::protein();
    const Index letters = alphabet.size();
    couplings::SavedModel saved;
    saved.model.fields = Array<float, 2>(columns, letters);
    saved.model.pairs = Array<float, 3>(columns * (columns - 1) / 2, letters, letters);
    for (float& value : saved.model.fields) value = uniform();
    for (float& value : saved.model.pairs) value = 0.05f * uniform();
    couplings::ModelDescription& about = saved.about;
    about.alphabet = &alphabet;
    about.effective_sequences = 1000;
    about.frequencies = Array<double, 2>(columns, letters);
    about.frequencies.fill(1.0 / static_cast<double>(letters));
    about.source_columns = columns;
    about.reference_name = "made";
    for (Index i = 0; i < columns; ++i) {
        about.columns.push_back(i);
        about.numbers.push_back(i + 1);
        about.sequence += alphabet.letter(static_cast<std::uint8_t>(random() % 20));
    }
    about.reference = about.sequence;
    return saved;
}

std::string random_table(const std::string& target, Index rows) {
    std::mt19937 random(2);
    std::string text = "mutant,DMS_score,DMS_score_bin\n";
    for (Index row = 0; row < rows; ++row) {
        const std::size_t count = 1 + random() % 8, step = target.size() / 8;
        for (std::size_t n = 0; n < count; ++n) {
            const std::size_t at = n * step + random() % step;
            const char letter =
                Alphabet::protein().letter(static_cast<std::uint8_t>(random() % 20));
            text += (n > 0 ? ":" : "") + (target[at] + std::to_string(at + 1)) + letter;
        }
        text += "," + std::to_string(random() % 100000 / 1e4) + "," + std::to_string(random() % 2) +
                "\n";
    }
    return text;
}

double cpu_seconds() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// The least wall and CPU seconds of five calls; `prepare` is not timed.
nlohmann::ordered_json timed(
    const std::function<void()>& work, const std::function<void()>& prepare = [] {}) {
    double wall = 1e30, cpu = 1e30;
    for (int repeat = 0; repeat < 5; ++repeat) {
        prepare();
        const auto start = std::chrono::steady_clock::now();
        const double before = cpu_seconds();
        work();
        cpu = std::min(cpu, cpu_seconds() - before);
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
        wall = std::min(wall, taken.count());
    }
    return {{"wall", wall}, {"cpu", cpu}};
}

void time_stages(Index columns, Index rows, int threads) {
    Context context;
    context.threads = threads;
    couplings::SavedModel made = random_model(columns);
    const std::string text = random_table(made.about.sequence, rows);
    const std::filesystem::path folder = std::filesystem::temp_directory_path() /
                                         ("pleat-bench-mutants-" + std::to_string(::getpid()));
    mutants::MutantTable table = mutants::parse_mutant_table("made", text);
    mutants::Input input;
    mutants::Result result;
    const auto copy = [&](const mutants::MutantTable* own) {
        return [&, own] { input = {.model = made, .table = own}; };
    };
    const auto run = [&] { result = mutants::run(std::move(input), {}, context); };
    const auto write = [&](const mutants::MutantTable* own) {
        return [&, own] {
            RunDirectory directory({.path = folder, .command = "mutants", .force = true});
            mutants::write_results(directory, {result, made.about, own}, threads);
            directory.finish();
        };
    };
    nlohmann::ordered_json told = {{"columns", columns}, {"rows", rows}, {"threads", threads}};
    told["effects of singles"] = timed(run, copy(nullptr));
    told["files of singles"] = timed(write(nullptr));
    told["table read"] = timed([&] { table = mutants::parse_mutant_table("made", text); });
    told["effects of singles and table"] = timed(run, copy(&table));
    told["files of singles and table"] = timed(write(&table));
    std::filesystem::remove_all(folder);
    std::cout << told.dump(1) << '\n';
}

}  // namespace

int main(int count, char** words) {
    try {
        const Index columns = count > 1 ? std::atoll(words[1]) : 500;
        const Index rows = count > 2 ? std::atoll(words[2]) : 100'000;
        if (count > 4 || columns < 8 || rows < 1) {
            std::cerr << "usage: " << words[0] << " [COLUMNS, from 8 [ROWS [THREADS]]]\n";
            return 2;
        }
        time_stages(columns, rows, count > 3 ? std::atoi(words[3]) : available_threads());
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
    return 0;
}
