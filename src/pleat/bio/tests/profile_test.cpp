// Tests of profiles: dialects of measured curves, units, errors that are missing, and refusals.
#include "pleat/bio/scattering/profile.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "packed.h"
#include "pleat/bio/input/byte_source.h"
#include "pleat/core/error.h"
#include "pleat/core/tests/data_folders.h"
#include "pleat/core/tests/temporary_folder.h"

namespace pleat {
namespace {

using test::error_text;

const std::string kTable = "0.01 10 1\n0.02 9 1\n0.03 8 0.5\n0.04 7 0.5\n";

ProfileFile read(std::string_view text, const ProfileOptions& options = {}) {
    ByteSource source("curve", text);
    return read_profile(source, options);
}

std::string refusal(std::string_view text, const ProfileOptions& options = {}) {
    return error_text<InputError>([&] { read(text, options); });
}

void expect_table(const Profile& profile) {
    EXPECT_EQ(profile.q, (std::vector<double>{0.01, 0.02, 0.03, 0.04}));
    EXPECT_EQ(profile.intensity, (std::vector<double>{10, 9, 8, 7}));
    EXPECT_EQ(profile.sigma, (std::vector<double>{1, 1, 0.5, 0.5}));
}

TEST(Profile, IsReadInEveryDialect) {
    const auto with = [](std::string table, const std::string& from, const std::string& to) {
        for (std::size_t at = 0; (at = table.find(from, at)) != std::string::npos; at += to.size())
            table.replace(at, from.size(), to);
        return table;
    };
    for (const auto& [name, text] : std::vector<std::pair<std::string, std::string>>{
             {"plain", kTable},
             {"no end of line", kTable.substr(0, kTable.size() - 1)},
             {"CR LF", with(kTable, "\n", "\r\n")},
             {"CR", with(kTable, "\n", "\r")},
             {"commas", with(kTable, " ", ", ")},
             {"semicolons", with(kTable, " ", ";")},
             {"tabs, indented", with("\t" + kTable, " ", "\t")},
             {"blank lines between", with(kTable, "\n", "\n\n")},
             {"comments between", with(kTable, "\n", "\n# 1 2 3\n")},
             {"fourth column", with(kTable, "\n", " 1.0\n")},
             {"text behind", with(kTable, "\n", " good\n")},
             {"title", "lysozyme, 46 mg/ml\n" + kTable},
             {"count in front", " TIME\n 1.0\n 4\n" + kTable},
             {"two lines of numbers in a title", "1 2 3\n4 5 6\nq I s\n" + kTable},
             {"a line of two numbers on top", "682 0.5\n" + kTable},
             {"decimal commas", with(kTable, ".", ",")},
             {"decimal commas and semicolons", with(with(kTable, ".", ","), " ", ";")},
             {"footer",
              kTable + "#{\n#  \"unit\": \"\"\n#}\nparent: 1.2 / 3\ncreator-version: 1.1\n"},
             {"numbers in a footer", kTable + "Frames used:\n1 2\n"},
             {"exponents of Fortran", with(kTable, " 1\n", " 0.1D+01\n")},
             {"plus signs", with(kTable, "0.01", "+0.01")},
             {"byte order mark", "\xef\xbb\xbf" + kTable},
             {"gzip", testing::gzipped(kTable)},
             {"Zstandard", testing::zstandard(kTable)}}) {
        SCOPED_TRACE(name);
        expect_table(read(text).profile);
    }
}

TEST(Profile, TellsItsUnit) {
    const std::string nanometres = "0.1 10 1\n0.2 9 1\n0.3 8 0.5\n1.4 7 0.5\n";
    const ProfileFile guessed = read(nanometres);
    EXPECT_TRUE(guessed.per_nanometre);
    EXPECT_DOUBLE_EQ(guessed.profile.q.back(), 0.14);
    EXPECT_EQ(guessed.notes.at(0).text,
              "q taken as 1/nm, since the curve ends at 1.4; nothing else decides it");
    EXPECT_TRUE(guessed.notes.at(0).is_warning);
    const ProfileFile told = read(nanometres, {.unit = MomentumUnit::per_angstrom});
    EXPECT_FALSE(told.per_nanometre);
    EXPECT_DOUBLE_EQ(told.profile.q.back(), 1.4);
    EXPECT_EQ(told.notes.at(0).text, "q taken as 1/angstrom as told; the curve ends at 1.4");
    EXPECT_FALSE(read(kTable).per_nanometre);
}

TEST(Profile, AssumesErrorsOnlyWhereTold) {
    const std::string two = "0.01 10\n0.02 -9\n0.03 8\n";
    EXPECT_EQ(refusal(two),
              "curve:1: expected q, intensity and error, found no error in '0.01 10'; "
              "--assume-error takes errors as a part of the intensity");
    const ProfileFile read_two = read(two, {.assumed_error = 0.1});
    EXPECT_DOUBLE_EQ(read_two.profile.sigma[1], 0.9);
    EXPECT_EQ(read_two.notes.at(1).text, "errors of 3 of 3 points taken as 0.1 of the intensity");
    const std::string zero = "0.01 10 1\n0.02 9 0\n0.03 8 1\n";
    EXPECT_DOUBLE_EQ(read(zero, {.assumed_error = 0.1}).profile.sigma[1], 0.9);
}

TEST(Profile, LeavesOutPointsWithoutAUsableError) {
    const ProfileFile file = read(kTable + "0.05 0 0\n");
    expect_table(file.profile);
    EXPECT_EQ(file.notes.at(1).text, "1 of 5 points without a usable error left out");
    const ProfileFile assumed = read(kTable + "0.05 0 0\n0.06 5 0\n", {.assumed_error = 0.1});
    EXPECT_EQ(assumed.profile.q, (std::vector<double>{0.01, 0.02, 0.03, 0.04, 0.06}));
    EXPECT_DOUBLE_EQ(assumed.profile.sigma.back(), 0.5);
    EXPECT_EQ(assumed.notes.at(1).text, "1 of 6 points without a usable error left out");
    EXPECT_EQ(assumed.notes.at(2).text, "errors of 1 of 5 points taken as 0.1 of the intensity");
    EXPECT_EQ(refusal("0.01 10 1\n0.02 9 0\n0.03 8 1\n"),
              "curve:2: expected errors above 0, found none at 1 of 3 points; --assume-error takes "
              "errors as a part of the intensity");
    EXPECT_EQ(refusal(kTable + "0.05 1 0\n0.06 1 0\n0.07 1 0\n0.08 1 0\n0.09 1 0\n"),
              "curve:5: expected errors above 0, found none at 5 of 9 points; --assume-error takes "
              "errors as a part of the intensity");
}

TEST(Profile, WarnsOfErrorsThatStandForNone) {
    const auto warnings = [](const ProfileFile& file) {
        return std::count_if(file.notes.begin(), file.notes.end(), [](const Note& note) {
            return note.kind == NoteKind::errors && note.is_warning;
        });
    };
    EXPECT_EQ(warnings(read("0.01 10 1\n0.02 9 1\n0.03 8 1\n0.04 7 1\n")), 1);
    EXPECT_EQ(warnings(read(kTable)), 0);
    // Variances of large intensities, and errors below any measurement's.
    EXPECT_EQ(warnings(read("0.01 1000 1e6\n0.02 900 8e5\n0.03 800 6e5\n")), 1);
    EXPECT_EQ(warnings(read("0.01 1000 1e-6\n0.02 900 2e-6\n0.03 800 1e-6\n")), 1);
    const std::vector<double> q{0.1, 0.2, 0.3}, intensity{10, 9, 8}, ones{1, 1, 1};
    EXPECT_EQ(warnings(make_profile("curve", q, intensity, ones)), 1);
    EXPECT_EQ(warnings(make_profile("curve", q, ones, {}, {.assumed_error = 1})), 0);
}

TEST(Profile, SortsPointsAndMergesThoseOfEqualQ) {
    // Weights 1 and 4.
    const ProfileFile repeats = read(kTable + "0.0400 6 1\n0.05 5 1\n");
    EXPECT_EQ(repeats.profile.q, (std::vector<double>{0.01, 0.02, 0.03, 0.04, 0.05}));
    EXPECT_DOUBLE_EQ(repeats.profile.intensity[3], (4 * 7 + 6) / 5.0);
    EXPECT_DOUBLE_EQ(repeats.profile.sigma[3], 1 / std::sqrt(5.0));
    EXPECT_EQ(repeats.notes.at(1).text,
              "points of equal q merged by their weights 1 / error^2: 5 of 6 remain");
    const ProfileFile mixed = read("0.01 10 1\n0.03 8 0.5\n0.02 9 1\n0.04 7 0.5\n");
    expect_table(mixed.profile);
    EXPECT_EQ(mixed.notes.at(1).text, "points sorted by q, which falls at 1 of 4");
    expect_table(read("0.04 7 0.5\n0.03 8 0.5\n0.02 9 1\n0.01 10 1\n").profile);
    EXPECT_EQ(refusal("0.01 1 1\n0.01 2 1\n0.02 1 1\n0.02 2 1\n"),
              "curve: expected 3 or more different q, found 2 at 4 points");
}

TEST(Profile, SortsSettingsThatOverlapAndRefusesASecondCurve) {
    std::string wide, narrow, low;
    for (int k = 5; k <= 30; ++k) wide += fmt::format("{} 1 1\n", 0.01 * k);
    for (int k = 1; k <= 12; ++k) narrow += fmt::format("{} 1 1\n", 0.0052 * k);
    for (int k = 0; k <= 5; ++k) low += fmt::format("{} 1 1\n", 0.055 + 0.01 * k);
    // Settings in either order: the shorter one begins at smaller q, or overlaps little.
    for (const std::string& text : {wide + narrow, narrow + wide}) {
        const ProfileFile file = read(text);
        EXPECT_EQ(file.profile.size(), 38U);
        EXPECT_TRUE(std::is_sorted(file.profile.q.begin(), file.profile.q.end()));
        EXPECT_EQ(file.notes.at(1).text, "points sorted by q, which falls at 1 of 38");
    }
    EXPECT_EQ(refusal(kTable + kTable),
              "curve:5: expected one curve, found q that begins again at 0.01 after 0.04");
    EXPECT_EQ(refusal(wide + low),
              "curve:27: expected one curve, found q that begins again at 0.055 after 0.3");
}

TEST(Profile, ReadsTheSpreadOfQOnlyWhereAsked) {
    const std::string table = "0.1 10 1 0.01\n0.2 9 1 0.02\n0.2 7 1 0.04\n2 8 0.5 0\n";
    EXPECT_TRUE(read(table).profile.dq.empty());
    const ProfileFile smeared = read(table, {.smear = true});
    ASSERT_EQ(smeared.profile.dq.size(), 3U);
    EXPECT_TRUE(smeared.per_nanometre);
    EXPECT_DOUBLE_EQ(smeared.profile.dq[0], 0.001);
    EXPECT_DOUBLE_EQ(smeared.profile.dq[1], std::sqrt((0.02 * 0.02 + 0.04 * 0.04) / 2) / 10);
    EXPECT_EQ(smeared.profile.dq[2], 0);
    const auto refused = [](const std::string& text) {
        return error_text<InputError>([&] { read(text, {.smear = true}); });
    };
    EXPECT_EQ(refused(kTable),
              "curve:1: expected q, intensity, error and dq (--smear), found no dq in '0.01 10 1'");
    EXPECT_EQ(refused("0.1 1 1 0.01\n0.2 1 1\n0.3 1 1 0.01\n"),
              "curve:2: expected q, intensity, error and dq (--smear), found '0.2 1 1'");
    EXPECT_EQ(refused("0.1 1 1 0.01\n0.2 1 1 -0.01\n0.3 1 1 0.01\n"),
              "curve:2: expected dq of 0 or more, found -0.01");
    EXPECT_EQ(refused("0.1 1 1 0\n0.2 1 1 0\n0.3 1 1 0\n"),
              "curve:1: expected dq above 0 in column 4 (--smear), found 0 at all points");
    EXPECT_EQ(refused("0.1 1 1 0.1\n0.2 1 1 7\n0.3 1 1 0.1\n"),
              "curve:2: expected dq in column 4 (--smear) of at most half of the largest q (0.3), "
              "found 7");
    const std::vector<double> q = {0.1, 0.2, 0.3}, ones = {1, 1, 1}, dq = {0.01, 0.01, 0.02};
    EXPECT_EQ(make_profile("curve", q, ones, ones, {.smear = true}, dq).profile.dq, dq);
    EXPECT_EQ(
        error_text<InputError>([&] { make_profile("curve", q, ones, ones, {.smear = true}); }),
        "curve: expected q, intensity, error and dq of one length, found 3, 3, 3 and 0");
}

TEST(Profile, TellsDecimalCommasFromCommasBetweenNumbers) {
    const ProfileFile commas = read("0,01 10 1\n0,02 9 1\n0,03 8,5 0,5\n");
    EXPECT_EQ(commas.profile.intensity, (std::vector<double>{10, 9, 8.5}));
    EXPECT_EQ(commas.notes.at(1).text, "commas between digits read as decimal points");
    EXPECT_EQ(read("0.01,10,1\n0.02,9,1\n0.03,8,1\n").profile.intensity,
              (std::vector<double>{10, 9, 8}));
    EXPECT_EQ(read("0, 10, 1\n1, 9, 1\n2, 8, 1\n").profile.intensity,
              (std::vector<double>{10, 9, 8}));
}

TEST(Profile, RefusesWhatIsNoCurve) {
    const std::string none =
        "curve: expected 3 or more lines of numbers in succession (q, intensity, error), found "
        "none";
    EXPECT_EQ(refusal(""), "curve: expected a scattering curve, found an empty file");
    EXPECT_EQ(refusal("\n\n"), none);
    EXPECT_EQ(refusal("ATOM 1 2 3\nATOM 1 2 3\nATOM 1 2 3\n"), none);
    EXPECT_EQ(refusal("0.1 1 1\n0.2 1 1\n"), none);
    EXPECT_EQ(refusal("1\n2\n3\n4\n"), none);
    EXPECT_EQ(
        refusal(kTable + "0.05 1e40 1\n"),
        "curve:5: expected intensity and error of at most 1e+30 and an error of at least 1e-30, "
        "found '0.05 1e40 1'");
    EXPECT_EQ(refusal(kTable + "0.05 1 -1\n"), "curve:5: expected an error above 0, found -1");
    EXPECT_EQ(refusal("-0.01 1 1\n0.02 1 1\n0.03 1 1\n"),
              "curve:1: expected q of 0 or more, found -0.01");
    EXPECT_EQ(refusal(kTable + "0.05 *** 1\n"),
              "curve:5: expected q, intensity and error, found '0.05 *** 1'");
    EXPECT_EQ(refusal(kTable + "0.05 1\n"),
              "curve:5: expected q, intensity and error, found '0.05 1'");
    EXPECT_EQ(
        refusal(kTable + "again\n" + kTable),
        "curve:6: expected one curve, found 2: 'lines 1-4', 'lines 6-9'; --curve NAME takes one");
    EXPECT_EQ(refusal("0.001 1 1\n0.002 1 1\n0.003 1 1\n"),
              "curve: expected a curve that ends between q = 0.01 and 10 1/angstrom, found 0.003 "
              "1/angstrom");
    EXPECT_EQ(
        refusal(kTable, {.unit = MomentumUnit::per_nanometre}),
        "curve: expected a curve that ends between q = 0.01 and 10 1/angstrom, found 0.04 1/nm");
    EXPECT_EQ(
        refusal("1 1 1\n2 1 1\n200 1 1\n"),
        "curve: expected a curve that ends between q = 0.01 and 10 1/angstrom, found 200 1/nm");
}

TEST(Profile, PassesOverCommentsBehindNumbers) {
    EXPECT_EQ(read("0.01 10 #first\n0.02 9\n0.03 8 # x y\n0.04 7\n", {.assumed_error = 0.1})
                  .profile.intensity,
              (std::vector<double>{10, 9, 8, 7}));
    EXPECT_EQ(read("0.01 10 1 #\n0.02 9 1\n0.03 8 1 #x\n").profile.size(), 3U);
}

TEST(Profile, TellsTenComplaints) {
    std::string text = kTable;
    for (int n = 0; n < 20; ++n) text += "0.5 1 -1\n";
    const std::string told = refusal(text);
    EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 9);
}

TEST(Profile, OfMeasuredCurvesIsWhole) {
    const std::filesystem::path folder = test::shared_folder() / "data" / "saxs";
    if (!std::filesystem::exists(folder))
        GTEST_SKIP() << "the measured curves of " << folder << " are absent";
    struct Row {
        const char* file;
        std::size_t points;
        bool per_nanometre;
        double q_min, q_max;  // q, 1/angstrom, of the manifest
    };
    for (const Row& row :
         {Row{"BSA_monomer_dimer/SASDA32.dat.gz", 2168, true, 0.0087, 0.601},
          Row{"Hst5_curve_only/Hst5_SAXS.dat.gz", 1043, true, 0.0037, 0.493},
          Row{"LAR1-2/LAR1-2.dat.gz", 205, false, 0.0082, 0.495},
          Row{"SASDJG5/SASDJG5.dat.gz", 723, false, 0.0124, 0.604},
          Row{"foxs_ensemble8/iq.dat.gz", 505, false, 0.0112, 0.318},
          Row{"glucose_isomerase/glucose_isomerase.dat.gz", 474, false, 0.0101, 0.283},
          Row{"lyz_2epe/2epe.dat.gz", 104, false, 0.0098, 0.408},
          Row{"lyz_imp/lyzexp.dat.gz", 197, false, 0.0414, 0.498},
          Row{"nup133/23922_merge.dat.gz", 456, false, 0.0228, 0.299}}) {
        SCOPED_TRACE(row.file);
        const ProfileFile file = read_profile(folder / row.file);
        EXPECT_EQ(file.profile.size(), row.points);
        EXPECT_EQ(file.notes.size(), 1u);
        EXPECT_EQ(file.per_nanometre, row.per_nanometre);
        EXPECT_NEAR(file.profile.q.front(), row.q_min, 1e-4);
        EXPECT_NEAR(file.profile.q.back(), row.q_max, 1.1e-3);
    }
    // A computed profile has no errors.
    EXPECT_THROW(read_profile(folder / "lyz_imp" / "6lyz.pdb.dat.gz"), InputError);
    EXPECT_EQ(read_profile(folder / "lyz_imp" / "6lyz.pdb.dat.gz", {.assumed_error = 0.05})
                  .profile.size(),
              500u);
}

TEST(Profile, OfArraysIsHeldToTheSame) {
    const std::vector<double> q{0.1, 0.2, 0.3, 0.4}, intensity{10, 9, 8, 7}, sigma{1, 1, 0.5, 0.5};
    const Profile made = make_profile("curve", q, intensity, sigma).profile;
    EXPECT_EQ(made.q, q);
    EXPECT_EQ(made.intensity, intensity);
    EXPECT_EQ(made.sigma, sigma);
    EXPECT_EQ(made.source, "curve");
    const ProfileFile assumed = make_profile(
        "curve", q, intensity, {}, {.unit = MomentumUnit::per_nanometre, .assumed_error = 0.5});
    EXPECT_DOUBLE_EQ(assumed.profile.q.back(), 0.04);
    EXPECT_DOUBLE_EQ(assumed.profile.sigma.front(), 5);
    EXPECT_TRUE(assumed.per_nanometre);
    ASSERT_EQ(assumed.notes.size(), 1u);
    // 1/angstrom is not guessed.
    const std::vector<double> wide{1, 2, 3, 4};
    EXPECT_EQ(make_profile("curve", wide, intensity, sigma).profile.q, wide);
    const auto refused = [&](std::vector<double> x, std::vector<double> y, std::vector<double> e) {
        return error_text<InputError>([&] { make_profile("curve", x, y, e); });
    };
    const std::vector<double> mixed{0.1, 0.3, 0.2}, rising{1, 3, 2}, ones{1, 1, 1};
    EXPECT_EQ(make_profile("curve", mixed, rising, ones).profile.intensity,
              (std::vector<double>{1, 2, 3}));
    EXPECT_EQ(refused(q, intensity, {}),
              "curve: expected q, intensity and error, found no error; --assume-error takes errors "
              "as a part of the intensity");
    EXPECT_EQ(refused(q, intensity, {1}),
              "curve: expected q, intensity and error of one length, found 4, 4 and 1");
    EXPECT_EQ(refused({0.1, 0.2}, {1, 1}, {1, 1}),
              "curve: expected from 3 to 1000000 points, found 2");
    EXPECT_EQ(make_profile("curve", q, std::vector<double>{1, NAN, 1, 1}, sigma).profile.q,
              (std::vector<double>{0.1, 0.3, 0.4}));
}

}  // namespace
}  // namespace pleat
