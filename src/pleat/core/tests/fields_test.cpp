// Tests of options (reading, showing, checking) and of device names.
#include "pleat/core/fields.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "pleat/core/device.h"
#include "pleat/core/error.h"
#include "pleat/core/tests/temporary_folder.h"

namespace pleat {
namespace {

using test::error_text;

struct Parameters {
    double tolerance = 1e-4;
    double lambda = std::nan("");
    double fraction = 0.5;
    std::int64_t limit = 100;
    std::int64_t threads = -1;
    bool weights = true;
    std::string alphabet = "protein";
    std::string title = "";
};

std::vector<Field> fields(Parameters& p) {
    constexpr double kNone = std::numeric_limits<double>::infinity();
    return {
        {.name = "tolerance", .target = &p.tolerance, .help = "", .min = 0, .min_excluded = true},
        {.name = "lambda", .target = &p.lambda, .help = "", .min = 0, .automatic = "0.2 (L - 1)"},
        {.name = "fraction", .target = &p.fraction, .help = "", .unit = "bits", .min = 0, .max = 1},
        {.name = "limit", .target = &p.limit, .help = "", .min = 1, .max = kNone},
        {.name = "threads", .target = &p.threads, .help = "", .min = 1, .automatic = "all"},
        {.name = "weights", .target = &p.weights, .help = "", .negated_flag = true},
        {.name = "alphabet", .target = &p.alphabet, .help = "", .choices = {"", "protein", "rna"}},
        {.name = "title", .target = &p.title, .help = ""},
    };
}

TEST(Fields, ReadsAndShowsValues) {
    Parameters p;
    auto f = fields(p);
    f[0].set("1e-8");
    EXPECT_EQ(p.tolerance, 1e-8);
    EXPECT_EQ(f[0].text(), "1e-08");
    EXPECT_EQ(f[1].text(), "0.2 (L - 1)");
    f[1].set("0");
    EXPECT_EQ(p.lambda, 0.0);
    EXPECT_EQ(f[1].text(), "0");
    f[1].set("auto");
    EXPECT_TRUE(std::isnan(p.lambda));
    f[3].set("+9007199254740993");
    EXPECT_EQ(f[3].text(), "9007199254740993");
    f[4].set("3");
    EXPECT_EQ(p.threads, 3);
    f[4].set(std::string("auto"));
    EXPECT_EQ(p.threads, -1);
    f[5].set("off");
    EXPECT_FALSE(p.weights);
    EXPECT_EQ(f[5].text(), "false");
    f[6].set("rna");
    EXPECT_EQ(p.alphabet, "rna");
    f[7].set("a b");
    EXPECT_EQ(f[7].text(), "a b");
}

TEST(Fields, TextGivesTheSameValueBack) {
    std::mt19937_64 random(3);
    for (int trial = 0; trial < 1000; ++trial) {
        Parameters p;
        p.tolerance = std::exp(std::normal_distribution<double>(0, 50)(random));
        p.limit = static_cast<std::int64_t>(random() >> 1) | 1;
        const Parameters before = p;
        for (Field& field : fields(p)) field.set(field.text());
        EXPECT_EQ(p.tolerance, before.tolerance);
        EXPECT_EQ(p.limit, before.limit);
        EXPECT_TRUE(std::isnan(p.lambda));
        EXPECT_EQ(p.threads, -1);
        EXPECT_TRUE(p.weights);
    }
}

TEST(Fields, RefusesWithOneClearLineAndKeepsTheValue) {
    Parameters p;
    auto f = fields(p);
    const auto refusal = [&](int i, const std::string& text) {
        const std::string before = f[i].text();
        const std::string error = error_text<UsageError>([&] { f[i].set(text); });
        EXPECT_EQ(f[i].text(), before);
        return error;
    };
    EXPECT_EQ(refusal(0, "-1"), "--tolerance: expected a number > 0, found '-1'");
    EXPECT_EQ(refusal(0, "0"), "--tolerance: expected a number > 0, found '0'");
    EXPECT_EQ(refusal(0, ""), "--tolerance: expected a number > 0, found ''");
    EXPECT_EQ(refusal(1, "-1"), "--lambda: expected a number >= 0 or auto, found '-1'");
    EXPECT_EQ(refusal(2, "1.5"), "--fraction: expected a number >= 0 and <= 1 (bits), found '1.5'");
    EXPECT_EQ(refusal(3, "2.5"), "--limit: expected a whole number >= 1, found '2.5'");
    EXPECT_EQ(refusal(4, "0"), "--threads: expected a whole number >= 1 or auto, found '0'");
    EXPECT_EQ(refusal(5, "maybe"), "--weights: expected true or false, found 'maybe'");
    EXPECT_EQ(refusal(6, "xyz"), "--alphabet: expected one of protein, rna, found 'xyz'");
    for (const char* text : {"nan", "inf", "1e999", "1x", " 1", "1 ", "0x10", "auto", "+-1", "--1"})
        refusal(0, text);
    for (const char* text : {"99999999999999999999", "1e3", "auto", "nan", ""}) refusal(3, text);
}

TEST(Fields, ChecksValuesThatWereSetInCode) {
    Parameters p;
    check(fields(p));
    p.tolerance = std::nan("");
    error_text<UsageError>([&] { check(fields(p)); });
    p = {};
    p.lambda = -0.5;
    EXPECT_EQ(error_text<UsageError>([&] { check(fields(p)); }),
              "--lambda: expected a number >= 0 or auto, found '-0.5'");
    p = {};
    p.limit = 0;
    error_text<UsageError>([&] { check(fields(p)); });
    p = {};
    p.alphabet = "dna";
    error_text<UsageError>([&] { check(fields(p)); });
    p = {};
    p.fraction = 1.0;
    check(fields(p));
}

enum class Method { single, complete, average };

std::span<const std::string_view> names_of(Method) {
    static constexpr std::string_view kNames[] = {"single", "complete", "average"};
    return kNames;
}

struct TypedParameters {
    Method method = Method::complete;
    std::optional<double> cutoff;
    std::optional<std::int64_t> count;
};

std::vector<Field> fields(TypedParameters& p) {
    return {
        {.name = "method", .target = &p.method, .help = ""},
        {.name = "cutoff",
         .target = &p.cutoff,
         .help = "",
         .unit = "angstrom",
         .min = 0,
         .min_excluded = true,
         .automatic = "0.5 of the median"},
        {.name = "count", .target = &p.count, .help = "", .min = 2, .max = 9, .automatic = "none"},
    };
}

TEST(Choice, ReadsAndShowsTheNamesOfAnEnumeration) {
    TypedParameters p;
    Field method = fields(p)[0];
    EXPECT_EQ(method.text(), "complete");
    EXPECT_EQ(method.allowed(), (std::vector<std::string>{"single", "complete", "average"}));
    EXPECT_FALSE(method.is_number());
    for (const Method each : {Method::single, Method::average, Method::complete}) {
        p.method = each;
        const std::string text = method.text();
        p.method = Method::single;
        method.set(text);
        EXPECT_EQ(p.method, each);
    }
}

TEST(Choice, RefusesOtherNamesAndKeepsTheValue) {
    TypedParameters p;
    Field method = fields(p)[0];
    EXPECT_EQ(error_text<UsageError>([&] { method.set("Single"); }),
              "--method: expected one of single, complete, average, found 'Single'");
    error_text<UsageError>([&] { method.set(""); });
    error_text<UsageError>([&] { method.set("auto"); });
    EXPECT_EQ(p.method, Method::complete);
    p.method = static_cast<Method>(7);
    error_text<UsageError>([&] { check(fields(p)); });
}

TEST(OptionalTargets, AreAutomaticUntilTheyAreSet) {
    TypedParameters p;
    auto f = fields(p);
    EXPECT_TRUE(f[1].is_automatic() && f[2].is_automatic());
    EXPECT_EQ(f[1].text(), "0.5 of the median");
    f[1].set("0.25");
    f[2].set("9");
    EXPECT_EQ(p.cutoff, 0.25);
    EXPECT_EQ(p.count, 9);
    EXPECT_FALSE(f[1].is_automatic() || f[2].is_automatic());
    EXPECT_EQ(f[1].text(), "0.25");
    EXPECT_EQ(f[2].text(), "9");
    f[1].set("auto");
    f[2].set("none");
    EXPECT_EQ(p.cutoff, std::nullopt);
    EXPECT_EQ(p.count, std::nullopt);
}

TEST(OptionalTargets, KeepTheirValueWhenAnotherIsRefused) {
    TypedParameters p;
    p.cutoff = 3.0;
    auto f = fields(p);
    EXPECT_EQ(error_text<UsageError>([&] { f[1].set("0"); }),
              "--cutoff: expected a number > 0 (angstrom) or auto, found '0'");
    EXPECT_EQ(error_text<UsageError>([&] { f[2].set("2.5"); }),
              "--count: expected a whole number >= 2 and <= 9 or auto, found '2.5'");
    EXPECT_EQ(p.cutoff, 3.0);
    EXPECT_EQ(p.count, std::nullopt);
}

TEST(OptionalTargets, AreCheckedWhenSetInCode) {
    TypedParameters p;
    check(fields(p));
    p.cutoff = -1.0;
    error_text<UsageError>([&] { check(fields(p)); });
    p.cutoff = std::nan("");
    error_text<UsageError>([&] { check(fields(p)); });
    p.cutoff = 1.0;
    p.count = 10;
    EXPECT_EQ(error_text<UsageError>([&] { check(fields(p)); }),
              "--count: expected a whole number >= 2 and <= 9 or auto, found '10'");
}

TEST(Device, NamesAreReadAndWritten) {
    for (const std::string name : {"reference", "cpu", "cuda:0", "cuda:12"})
        EXPECT_EQ(Device::parse(name).name(), name);
    EXPECT_EQ(Device::parse("cuda").name(), "cuda:0");
    for (const std::string name : {"", "gpu", "CPU", "cuda:", "cuda:-1", "cuda:x", "cuda:1x",
                                   "cuda1", "cpu:0", "cuda:99999999999", "cuda: 1"}) {
        const std::string text = error_text<UsageError>([&] { Device::parse(name); });
        EXPECT_NE(text.find("'" + name + "'"), std::string::npos) << text;
    }
}

}  // namespace
}  // namespace pleat
