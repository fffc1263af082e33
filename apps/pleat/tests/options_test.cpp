// Tests of options: reading them, their errors, and hidden options.
#include "options/options.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>

#include "commands.h"
#include "help/help.h"
#include "pleat/core/error.h"
#include "pleat/core/tests/temporary_folder.h"

namespace pleat::program {
namespace {

enum class Method { gromos, gmx };

std::span<const std::string_view> names_of(Method) {
    static constexpr std::string_view kNames[] = {"gromos", "gmx"};
    return kNames;
}

struct Parameters {
    double identity = 0.8;
    std::optional<double> width;
    std::int64_t rounds = 100;
    Method method = Method::gmx;
    bool weights = true, force = false;
    std::int64_t seed = 1;
    std::string name;
};

std::vector<Field> fields(Parameters& p) {
    return {
        {.name = "identity",
         .target = &p.identity,
         .help = "Identity of similar sequences",
         .letter = 'w'},
        {.name = "bin-width", .target = &p.width, .help = "Width of a bin", .automatic = "none"},
        {.name = "max-rounds", .target = &p.rounds, .help = "Largest number of rounds"},
        {.name = "method", .target = &p.method, .help = "Method of clustering"},
        {.name = "sequence-weights",
         .target = &p.weights,
         .help = "Weight sequences",
         .negated_flag = true},
        {.name = "replace", .target = &p.force, .help = "Replace the results"},
        {.name = "name", .target = &p.name, .help = "Name"},
        {.name = "seed", .target = &p.seed, .help = "Seed"}};
}

/// A program with one command, `fit`, and completion and manual pages.
struct Program {
    Program() : app("A program.", "pleat") {
        set_help_format(app);
        app.require_subcommand(0, 1);
        fit = app.add_subcommand("fit", "Fit something");
        add_fields(*fit, "Options", fields(parameters));
        fit->get_option("--seed")->group("");
        completion = completion_command(app);
        manual = manual_command(app);
    }
    /// Reads `line`; returns the text of an error, with its hint, else nothing.
    std::string read(const std::string& line) {
        try {
            app.parse(line, false);
        } catch (const CLI::ParseError& error) {
            return usage_hint(app, error);
        } catch (const UsageError& error) {
            return error.what();
        }
        return {};
    }
    std::string output_of(const Command& command) {
        testing::internal::CaptureStdout();
        command.run({});
        std::fflush(stdout);
        return testing::internal::GetCapturedStdout();
    }

    Parameters parameters;
    CLI::App app;
    CLI::App* fit = nullptr;
    Command completion, manual;
};

TEST(Options, NamesLettersAndFlagsSetThem) {
    Program program;
    EXPECT_EQ(
        program.read("fit -w 0.7 --bin-width=2 --method gromos --no-sequence-weights --replace"),
        "");
    EXPECT_EQ(program.parameters.identity, 0.7);
    EXPECT_EQ(program.parameters.width, 2.0);
    EXPECT_EQ(program.parameters.method, Method::gromos);
    EXPECT_FALSE(program.parameters.weights);
    EXPECT_TRUE(program.parameters.force);
}

TEST(Options, ErrorsNameThem) {
    EXPECT_EQ(Program().read("fit --method other"),
              "--method: expected one of gromos, gmx, found 'other'");
    EXPECT_EQ(Program().read("fit --max-rounds x"),
              "--max-rounds: expected a whole number, found 'x'");
}

TEST(Texts, ThatAreEmptyAreRefused) {
    Program program;
    program.app.parse(
        std::vector<std::string>{"x", "--name", "fit"});  // from the last to the first
    EXPECT_EQ(program.parameters.name, "x");
    EXPECT_EQ(test::error_text<UsageError>([&] {
                  program.app.parse(std::vector<std::string>{"", "--name", "fit"});
              }),
              "--name: expected a text, found an empty one");
}

TEST(HiddenOptions, AreAccepted) {
    Program program;
    EXPECT_EQ(program.read("fit --seed 3"), "");
    EXPECT_EQ(program.parameters.seed, 3);
}

TEST(HiddenOptions, AreAbsentFromHelpCompletionManualAndHints) {
    Program program;
    std::string shown = program.fit->help();
    for (const std::string shell : {"bash", "zsh", "fish"}) {
        EXPECT_EQ(program.read("completion " + shell), "");
        shown += program.output_of(program.completion);
    }
    EXPECT_EQ(program.read("manual fit"), "");
    shown += program.output_of(program.manual);
    for (const std::string present : {"--identity", "-w", "--bin-width", "--max-rounds",
                                      "--no-sequence-weights", "--replace", "gromos"})
        EXPECT_NE(shown.find(present), std::string::npos) << present;
    EXPECT_EQ(shown.find("--seed"), std::string::npos) << shown;
    for (const CommandEntry& command : option_table(program.app))
        for (const OptionEntry& option : command.options)
            EXPECT_EQ(std::count(option.flags.begin(), option.flags.end(), "--seed"), 0);
    // The nearest name offered for a typing error is a shown one.
    EXPECT_EQ(Program().read("fit --sead 1").find("did you mean"), std::string::npos);
    EXPECT_NE(Program().read("fit --identiti 1").find("did you mean '--identity'"),
              std::string::npos);
    EXPECT_NE(Program().read("fit --rounds_max 1").find("did you mean '--max-rounds'"),
              std::string::npos);
}

}  // namespace
}  // namespace pleat::program
