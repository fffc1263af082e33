// Tests of curve formats: columns by names, units of headers, several curves, structured formats.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "pleat/bio/input/byte_source.h"
#include "pleat/bio/scattering/guinier.h"
#include "pleat/bio/scattering/profile.h"
#include "pleat/core/error.h"
#include "pleat/core/tests/data_folders.h"
#include "pleat/core/tests/temporary_folder.h"

namespace pleat {
namespace {

using test::error_text;

ProfileFile read(std::string_view text, const ProfileOptions& options = {}) {
    ByteSource source("curve", text);
    return read_profile(source, options);
}

/// A made curve of a sphere-like molecule of Rg 14 angstrom: q, intensity, error, model, `last` the
/// largest q in 1/angstrom; rough errors as measured ones have.
struct Made {
    std::vector<double> q, intensity, error, model;
    explicit Made(double last, std::size_t points = 60, double first = 0.01) {
        for (std::size_t k = 0; k < points; ++k) {
            const double x =
                first + (last - first) * static_cast<double>(k) / static_cast<double>(points - 1);
            const double noise = std::sin(12.9898 * static_cast<double>(k * k + 1));
            q.push_back(x);
            model.push_back(10 * std::exp(-14 * 14 * x * x / 3) + 0.1);
            error.push_back(0.02 * model.back() * (1.2 + 0.4 * noise) + 0.001);
            intensity.push_back(model.back() + 0.5 * noise * error.back());
        }
    }
    /// Rows of these columns ("qiem"), q multiplied.
    std::string rows(std::string_view columns, double times = 1) const {
        std::string text;
        for (std::size_t k = 0; k < q.size(); ++k) {
            for (const char c : columns)
                text += fmt::format("{:.6e} ", c == 'q'   ? times * q[k]
                                               : c == 'i' ? intensity[k]
                                               : c == 'e' ? error[k]
                                                          : model[k]);
            text += '\n';
        }
        return text;
    }
};

void expect_made(const ProfileFile& file, const Made& made) {
    ASSERT_EQ(file.profile.size(), made.q.size());
    for (const std::size_t k : {std::size_t{0}, made.q.size() - 1}) {
        EXPECT_NEAR(file.profile.q[k], made.q[k], 1e-5 * made.q[k]);
        EXPECT_NEAR(file.profile.intensity[k], made.intensity[k], 1e-5);
        EXPECT_NEAR(file.profile.sigma[k], made.error[k], 1e-5);
    }
}

TEST(CurveColumns, AreTakenByTheNamesOfEachProgram) {
    const Made made(0.3);
    struct Row {
        std::string header, columns;
    };
    for (const Row& row : {
             Row{"#  q       exp_intensity   model_intensity error", "qime"},         // MultiFoXS
             Row{"#  q       exp_intensity   error model_intensity", "qiem"},         // FoXS
             Row{"   sExp  |  iExp |  Err | iFit(+Const) | Chi^2=   1.234", "qiem"},  // DAMMIF
             Row{" sExp iExp Err iFit // Chi^2 =   7.46", "qiem"},
             Row{" OLIGOMER fit: s, Iexp, sigma, Ifit. Chi^2 =  594.97", "qiem"},
             Row{"#      Q             I(Q)           Error     ", "qie"},  // RAW
             Row{"         Q               I              Error\n474", "qie"},
             Row{"q\tModel\tErr\tI", "qmei"},
             Row{"<X>\t<Y>\t<dY>", "qie"},
             Row{"The 4 columns are | Q (1/A) | I(Q) (1/cm) | std. dev. I(Q) (1/cm) | meanQ |",
                 "qieq"},
         }) {
        SCOPED_TRACE(row.header);
        expect_made(read(row.header + "\n" + made.rows(row.columns)), made);
    }
    // Irena's, in any order; a number of points may be in front.
    expect_made(read("SMR_Int\tSMR_Error\tSMR_Qvec\n" + made.rows("ieq")), made);
    expect_made(read("R_x_1\tQ_x_1\tS_x_1\n" + made.rows("iqe")), made);
    expect_made(read("point q I sigma\n" + made.rows("mqie")), made);
    std::string index = ",q,I,err\n";
    for (std::size_t k = 0; k < made.q.size(); ++k)
        index += fmt::format("{},{:.6e},{:.6e},{:.6e}\n", k, made.q[k], made.intensity[k],
                             made.error[k]);
    expect_made(read(index), made);
    // Words are no names.
    expect_made(read("Intensity versus q\n" + made.rows("qie")), made);
    expect_made(read("# q_min = 0.01\n" + made.rows("qie")), made);
    const ProfileFile named =
        read("#  q  exp_intensity  model_intensity  error\n" + made.rows("qime"));
    EXPECT_EQ(count(named.notes, NoteKind::columns), 1);
}

TEST(CurveColumns, OfAModelAreRefusedAsErrors) {
    const Made made(0.3);
    EXPECT_EQ(error_text<InputError>([&] { read(made.rows("qime")); }),
              "curve:1: expected errors in column 3, found values like those of a model; column 4 "
              "looks like one: --columns 1,2,4 takes it (--columns 1,2,3 takes it as it is)");
    const std::string none = error_text<InputError>([&] { read(made.rows("qim")); });
    EXPECT_NE(none.find("--columns 1,2 with --assume-error"), std::string::npos) << none;
    // CRYSOL's .int: a computed profile of the particle, then its parts.
    const std::string parts = " Dif/Atom/Shape/Bord\n" + made.rows("qmmmm");
    EXPECT_NE(error_text<InputError>([&] { read(parts); }).find("found no error"),
              std::string::npos);
    const ProfileFile assumed = read(made.rows("qim"), {.assumed_error = 0.1});
    EXPECT_DOUBLE_EQ(assumed.profile.sigma[0], 0.1 * assumed.profile.intensity[0]);
    EXPECT_EQ(count(assumed.notes, NoteKind::columns), 1);
}

TEST(CurveColumns, AreTakenAsTold) {
    const Made made(0.3);
    expect_made(read(made.rows("qime"), {.columns = "1,2,4"}), made);
    const std::string named = "# q I_sample fit uncertain\n" + made.rows("qime");
    expect_made(read(named, {.columns = "q,I_sample,4"}), made);
    EXPECT_EQ(count(read(named, {.columns = "1,2,4"}).notes, NoteKind::columns), 1);
    EXPECT_NE(error_text<InputError>([&] {
                  read(made.rows("qie"), {.columns = "1,2,7"});
              }).find("expected a column 7"),
              std::string::npos);
    EXPECT_NE(error_text<InputError>([&] {
                  read(made.rows("qie"), {.columns = "q,I,e"});
              }).find("expected names of columns, found none"),
              std::string::npos);
    expect_made(read("alpha\tbeta\tgamma\n" + made.rows("ieq"), {.columns = "gamma,Alpha,beta"}),
                made);
    for (const char* wrong : {"1", "1,,3", "1,2,", ",1,2"})
        EXPECT_THROW(read(made.rows("qie"), {.columns = wrong}), UsageError) << wrong;
}

TEST(CurveColumns, OfModelsAloneAreNoErrors) {
    const Made made(0.3);
    for (const std::string& text :
         {"q_inv_angstrom,debye_a,debye_b,prop_a,prop_b\n" + made.rows("qmmmm"),
          " 274.5 46.9 309.2 10.0 15.5 20.0 0.4\n" + made.rows("qim"),  // GLOBSYMM
          made.rows("qmm")})
        EXPECT_NO_THROW(read(text, {.assumed_error = 0.1}));
    for (const std::string& names : {std::string("q_inv_angstrom,debye_a,debye_b,prop_a,prop_b\n"),
                                     std::string("q,I_a,I_b,c,d\n")})
        EXPECT_NE(error_text<InputError>([&] {
                      read(names + made.rows("qmmmm"));
                  }).find("found no error"),
                  std::string::npos);
    // SASfit writes -1 where it has no errors.
    std::string sasfit;
    for (std::size_t k = 0; k < made.q.size(); ++k)
        sasfit += fmt::format("{:g};{:g};-1;0;\n", made.q[k], made.intensity[k]);
    EXPECT_NE(error_text<InputError>([&] { read(sasfit); }).find("found no error"),
              std::string::npos);
    EXPECT_EQ(read(sasfit, {.assumed_error = 0.1}).profile.size(), made.q.size());
    // Columns that rise evenly above the intensities.
    std::string even;
    for (int k = 1; k <= 100; ++k)
        even += fmt::format("{} {} {} {}\n", 0.01 * k, 20 * (1 - std::exp(-0.03 * k)),
                            30 * (1 - std::exp(-0.06 * k)), 40 * (1 - std::exp(-0.1 * k)));
    EXPECT_NE(error_text<InputError>([&] { read(even); }).find("--columns"), std::string::npos);
}

TEST(CurveColumns, OfFewLinesInOtherTextAreRefused) {
    const std::string text = "a tutorial\nof many\nlines of text\nwith a few\nof numbers\n";
    const std::string few = text + "0.1 1 0.1\n0.2 2 0.1\n0.3 1 0.2\n0.4 2 0.1\n";
    EXPECT_NE(error_text<InputError>([&] { read(few); }).find("found 4 lines of numbers in 5"),
              std::string::npos);
    EXPECT_EQ(read(few, {.columns = "1,2,3"}).profile.size(), 4U);
}

TEST(CurveUnit, IsThatOfTheHeader) {
    const Made wide(1.5), low(0.095);
    const char* const two_lines =
        "# SAXS profile: number of points = 60, q_min = 0, q_max = 1.5\n"
        "#    q    intensity    error";
    for (const char* unit :
         {"# q [A^-1]   I(q)   sigma", "q \xc3\x85-1\t\tI(q) cm-1\tSig cm-1",
          "q \xc5-1\t\tI(q) cm-1\tSig cm-1", "# q[A-1] I(q) sigma(q)", "# units of q: 1/angstrom",
          "q (1/Angstrom)\tIntensity\tError", two_lines, "q_inv_angstrom,I,I_error"}) {
        SCOPED_TRACE(unit);
        const ProfileFile file = read(std::string(unit) + "\n" + wide.rows("qie"));
        EXPECT_FALSE(file.per_nanometre);
        expect_made(file, wide);
    }
    for (const char* unit :
         {"Q I IErr\n1/nm 1/m 1/m", "q,I,err\nnm\xe2\x81\xbb\xc2\xb9,m,m",
          "1/nm\t1/m\t1/m\nQ\tI\tIErr", "# q [nm^-1]   I(q)   sigma", "\"q (1/nm)\",\"I\",\"err\"",
          "# q_unit = nm\xe2\x81\xbb\xc2\xb9", "Q units: inverse nanometers"}) {
        SCOPED_TRACE(unit);
        const ProfileFile file = read(std::string(unit) + "\n" + low.rows("qie", 10));
        EXPECT_TRUE(file.per_nanometre);
        expect_made(file, low);
    }
}

TEST(CurveUnit, IsDecidedByTheSizeOfTheMolecule) {
    // Lysozyme to 1.72 1/angstrom was taken for 1/nm, as its end alone suggests.
    const Made wide(1.72, 200, 0.008);
    for (const std::optional<double> structure : {std::optional<double>(), std::optional(14.0)}) {
        const ProfileFile file = read(wide.rows("qie"), {.structure_gyration = structure});
        EXPECT_FALSE(file.per_nanometre);
        ASSERT_EQ(file.notes.at(0).kind, NoteKind::unit);
        EXPECT_EQ(file.notes.at(0).is_warning, !structure);  // without a structure it is a guess
        EXPECT_EQ(file.notes.at(0).option, "--q-unit 1/nm");
    }
    EXPECT_TRUE(read(wide.rows("qie"), {.structure_gyration = 140}).per_nanometre);
    // Neither unit fits the structure.
    EXPECT_TRUE(read(wide.rows("qie"), {.structure_gyration = 40}).notes.at(0).is_warning);
    EXPECT_TRUE(read(Made(0.095).rows("qie", 10)).per_nanometre);
    // Wide angles alone: only the end of the curve says something.
    std::string peaks;
    for (int k = 0; k < 60; ++k)
        peaks +=
            fmt::format("{} {} {}\n", 1.9 + 0.085 * k, 50 + 40 * std::sin(k), 1 + 0.1 * (k % 3));
    const ProfileFile alone = read(peaks);
    EXPECT_TRUE(alone.per_nanometre);
    EXPECT_TRUE(alone.notes.at(0).is_warning);
    EXPECT_EQ(alone.notes.at(0).option, "--q-unit 1/angstrom");
    // What the file says counts, with a warning where no molecule is of that size.
    const ProfileFile wrong = read("# q (1/nm) I error\n" + Made(9.5, 60, 1).rows("qie"));
    EXPECT_TRUE(wrong.per_nanometre);
    const ProfileFile small = read("# q (1/A) I error\n" + Made(0.3).rows("qie", 10));
    EXPECT_FALSE(small.per_nanometre);
    EXPECT_TRUE(small.notes.at(0).is_warning);
}

TEST(CurvePointsRead, LeaveOutNaNAndReadSignsOfUnicode) {
    const std::string nan = "0.005 nan nan\n0.006 -1.#IND 1\n";
    const Made made(0.3);
    const ProfileFile file = read(nan + made.rows("qie"));
    expect_made(file, made);
    EXPECT_EQ(count(file.notes, NoteKind::points), 1);
    EXPECT_NE(file.notes.at(1).text.find("2 of 62 points"), std::string::npos);
    const auto with = [&](const std::string& from, const std::string& to) {
        std::string text = made.rows("qie");
        for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
            text.replace(at, from.size(), to);
        return text;
    };
    expect_made(read(with(" ", "\xc2\xa0")), made);      // no-break spaces of UTF-8
    expect_made(read(with(" ", "\xa0")), made);          // and of Latin-1
    expect_made(read(with("-", "\xe2\x88\x92")), made);  // the minus sign
    expect_made(read("\"q\",\"I\",\"err\"\n\"" + with(" \n", "\"\n\"").substr(0)), made);
    EXPECT_NE(error_text<InputError>([&] {
                  read("1 nan 1\n2 nan 1\n3 nan 1\n4 1 1\n");
              }).find("expected finite numbers, found none at 3 of 4 points"),
              std::string::npos);
}

TEST(CurvePointsRead, BelowQMinAreLeftOut) {
    const Made made(0.3);
    const ProfileFile file =
        read("0.001 -5 0.1\n0.002 70 0.1\n" + made.rows("qie"), {.q_min = 0.005});
    expect_made(file, made);
    EXPECT_EQ(count(file.notes, NoteKind::points), 1);
    EXPECT_THROW(read(made.rows("qie"), {.q_min = 0.299}), InputError);
    const ProfileFile negative = read("-0.001 70 0.1\n" + made.rows("qie"), {.q_min = 0.005});
    expect_made(negative, made);
    EXPECT_EQ(count(negative.notes, NoteKind::points), 1);
    const Guinier line = guinier(file.profile);
    EXPECT_NEAR(line.gyration_radius, 14, 0.3);
    EXPECT_LT(line.chi2, 2);
    const Guinier without =
        guinier(read("0.001 12 0.01\n0.002 17 0.01\n" + made.rows("qie")).profile);
    EXPECT_EQ(without.first, 2u);
    EXPECT_GT(without.deviation_before, 10);  // although neighbours scatter
}

TEST(CurveFormats, OfSeveralCurvesAreReadByName) {
    const Made first(0.3), second(0.2);
    const std::string two = first.rows("qie") + "again\n" + second.rows("qie");
    EXPECT_NE(
        error_text<InputError>([&] { read(two); }).find("found 2: 'lines 1-60', 'lines 62-121'"),
        std::string::npos);
    const ProfileFile chosen = read(two, {.curve = "2"});
    expect_made(chosen, second);
    EXPECT_EQ(count(chosen.notes, NoteKind::several), 1);
    expect_made(read(two, {.curve = "lines 1-60"}), first);
    EXPECT_THROW(read(two, {.curve = "3"}), InputError);
}

TEST(CurveFormats, GnomAndPdhAreRead) {
    const Made made(0.3);
    const std::string gnom =
        "  ####    G N O M   ---   Version 4.6  ####\n  0.5E+04 30.9 1.0\n  0.1E+04 12.7 1.0\n"
        "  0.2E+03 4.4 1.0\n\n      S          J EXP       ERROR       J REG       I REG\n\n"
        "  0.000E+00   0.459E-01\n  0.577E-03   0.459E-01\n  0.577E-02   0.459E-01\n" +
        made.rows("qiemm") +
        "\n  Distance distribution  function of particle\n\n       R          P(R)      ERROR\n\n"
        " 0.0 0.0 0.0\n 1.0 0.1 0.1\n 2.0 0.2 0.1\n";
    const ProfileFile file = read(gnom);
    expect_made(file, made);
    EXPECT_EQ(count(file.notes, NoteKind::format), 1);
    EXPECT_EQ(count(file.notes, NoteKind::several), 1);
    EXPECT_EQ(count(file.notes, NoteKind::points), 1);
    EXPECT_NE(error_text<InputError>([&] { read(gnom, {.curve = "3"}); }).find("'3' (--curve)"),
              std::string::npos);  // P(R) is none
    const std::string pdh =
        "title\nSAXS BOX\n 60 0 0 0 0 0 0 0\n 0.0 261.2 0.0 1.0 0.15\n 30.0 5.6 0.0 0.0 0.0\n" +
        made.rows("qie");
    expect_made(read(pdh), made);
    EXPECT_EQ(count(read(pdh).notes, NoteKind::format), 1);
}

TEST(CurveFormats, DistributionsOfDistancesAreNoCurves) {
    std::string rows;
    for (int r = 0; r <= 20; ++r) rows += fmt::format("{} {} 0.1\n", r, r * (20 - r));
    const auto is_refused = [](const std::string& text, const ProfileOptions& options) {
        return error_text<InputError>([&] { read(text, options); }).find("P(r)") !=
               std::string::npos;
    };
    for (const char* names :
         {"      R          P(R)      ERROR\n\n", "Size\tGNOM_PR\tGNOM_Err\n", "# r  g(r)\n"}) {
        SCOPED_TRACE(names);
        EXPECT_TRUE(is_refused(names + rows, {}));
        EXPECT_TRUE(is_refused(names + rows, {.curve = "1"}));
    }
    EXPECT_TRUE(is_refused(rows, {}));  // by its shape
    EXPECT_EQ(read(rows, {.columns = "1,2,3"}).profile.size(), 21U);
    EXPECT_EQ(read("# q  P(q)  err\n" + Made(0.3).rows("qie")).profile.size(), 60U);
}

TEST(CurveFormats, SasCifIsRead) {
    const Made made(0.3);
    std::string text =
        "data_made\n_sas_scan.unit 1/nm\nloop_\n_sas_scan_intensity.id\n"
        "_sas_scan_intensity.scan_id\n_sas_scan_intensity.momentum_transfer\n"
        "_sas_scan_intensity.intensity\n_sas_scan_intensity.intensity_su_counting\n";
    std::string other = text;
    for (std::size_t k = 0; k < made.q.size(); ++k) {
        const std::string point =
            fmt::format("{:.6e} {:.6e} {:.6e}\n", 10 * made.q[k], made.intensity[k], made.error[k]);
        text += fmt::format("{} 1 {}", k + 1, point);
        other += fmt::format("{} {} {}", k + 1, 1 + k % 2, point);
    }
    expect_made(read(text), made);
    EXPECT_TRUE(read(text).per_nanometre);
    EXPECT_EQ(read(other).profile.size(), 30U);  // the first of two scans
    EXPECT_EQ(read(other, {.curve = "made/2"}).profile.size(), 30U);
    EXPECT_NE(error_text<InputError>([&] {
                  read("data_x\n_cell.length_a 1\n");
              }).find("expected a curve"),
              std::string::npos);
    EXPECT_NE(error_text<InputError>([&] { read("data_x\n_a 1 2 3\n"); }).find("sasCIF"),
              std::string::npos);
}

std::string cansas(const Made& made, const std::string& name) {
    std::string text = "<SASdata name=\"" + name + "\">";
    for (std::size_t k = 0; k < made.q.size(); ++k)
        text += fmt::format(
            "<Idata><Q unit=\"1/nm\">{:.6e}</Q><I unit=\"1/cm\">{:.6e}</I>"
            "<Idev unit=\"1/cm\">{:.6e}</Idev></Idata>\n",
            10 * made.q[k], made.intensity[k], made.error[k]);
    return text + "</SASdata>";
}

TEST(CurveFormats, CansasXmlIsRead) {
    const Made made(0.095), second(0.2);
    const std::string head =
        "<?xml version=\"1.0\"?>\n<SASroot version=\"1.1\"><SASentry><Title>t</Title>";
    const std::string tail = "</SASentry></SASroot>\n";
    const ProfileFile file = read(head + cansas(made, "a") + tail);
    expect_made(file, made);
    EXPECT_TRUE(file.per_nanometre);
    EXPECT_EQ(count(file.notes, NoteKind::format), 1);
    const std::string two = head + cansas(made, "a") + cansas(second, "b") + tail;
    const ProfileFile of_two = read(two);  // the first, with a warning
    expect_made(of_two, made);
    ASSERT_EQ(count(of_two.notes, NoteKind::several), 1);
    EXPECT_TRUE(of_two.notes.at(1).is_warning);
    expect_made(read(two, {.curve = "t/b"}), second);
    std::string furlongs = head + cansas(second, "a") + tail;
    for (std::size_t at = 0; (at = furlongs.find("1/nm", at)) != std::string::npos;)
        furlongs.replace(at, 4, "1/mm");
    EXPECT_NE(error_text<InputError>([&] { read(furlongs); }).find("found '1/mm'; --q-unit"),
              std::string::npos);
    EXPECT_TRUE(read(furlongs, {.unit = MomentumUnit::per_nanometre}).per_nanometre);
    EXPECT_NE(error_text<InputError>([&] {
                  read("<?xml version=\"1.0\"?><svg/>");
              }).find("found XML of another kind"),
              std::string::npos);
    EXPECT_NE(
        error_text<InputError>([&] { read("<?xml version=\"1.0\"?><SASroot>"); }).find("no XML"),
        std::string::npos);
}

TEST(CurveFormats, SesansIsRefusedByItsName) {
    const std::string text =
        "FileFormatVersion\t1.0\nDataFileTitle\tmade\nBEGIN_DATA\nSpinEchoLength Depolarisation "
        "Depolarisation_error Wavelength\n100 -0.01 0.001 2\n200 -0.02 0.001 2\n300 -0.03 0.001 "
        "2\n";
    EXPECT_NE(error_text<InputError>([&] { read(text); }).find("found SESANS"), std::string::npos);
}

TEST(CurveFormats, OfStrangersHaveTheirValues) {
    const std::filesystem::path folder = test::shared_folder() / "data" / "strangers" / "saxs";
    if (!std::filesystem::exists(folder))
        GTEST_SKIP() << "the curves of " << folder << " are absent";
    for (const auto& [name, points] : std::vector<std::pair<std::string, std::size_t>>{
             {"SASDMF2_lysozyme_per_angstrom_to_1.72.dat", 222},
             {"multifoxs.dat", 474},
             {"gnom4_lysozyme.out", 468},
             {"scatter_90.sascif", 79}}) {
        const ProfileFile file = read_profile(folder / name);
        EXPECT_EQ(file.profile.size(), points) << name;
        EXPECT_FALSE(file.per_nanometre) << name;
    }
}

TEST(CurveFormats, Hdf5OfAnotherKindIsRefused) {
    const test::TemporaryFolder folder;
    const std::filesystem::path path = folder.path() / "x.h5";
    std::ofstream(path, std::ios::binary) << "\x89HDF\r\n\x1a\n" << std::string(64, 'x');
    EXPECT_NE(error_text<InputError>([&] { read_profile(path); }).find("HDF5"), std::string::npos);
}

// Made by data/make_curve_hdf5.py.
TEST(CurveFormats, NxcansasIsRead) {
    const std::filesystem::path folder = test::data_folder() / "strangers" / "saxs";
    ProfileFile file;
    try {
        file = read_profile(folder / "made_two_entries.h5");
    } catch (const InputError& error) {
        if (std::string(error.what()).find("has no HDF5") != std::string::npos)
            GTEST_SKIP() << error.what();
        throw;
    }
    // The first of two entries, q falling, in 1/nm.
    EXPECT_TRUE(file.per_nanometre);
    ASSERT_EQ(file.profile.size(), 40U);
    EXPECT_NEAR(file.profile.q.back(), 0.3, 1e-6);
    EXPECT_NEAR(file.profile.sigma.front(), 0.02 * file.profile.intensity.front(), 1e-5);
    EXPECT_EQ(count(file.notes, NoteKind::several), 1);
    EXPECT_EQ(count(file.notes, NoteKind::order), 1);
    // The second has no units, and its `uncertainties` names a data set that is missing.
    const auto second = [&](const ProfileOptions& options) {
        return read_profile(folder / "made_two_entries.h5", options);
    };
    EXPECT_NE(error_text<InputError>([&] { second({.curve = "two/data"}); }).find("no error"),
              std::string::npos);
    const ProfileFile assumed = second({.assumed_error = 0.1, .curve = "two/data"});
    EXPECT_FALSE(assumed.per_nanometre);
    EXPECT_NEAR(assumed.profile.q.back(), 0.3, 1e-6);
    // The entry and the data that the file names as its default.
    const ProfileFile shown = read_profile(folder / "made_default.h5", {.assumed_error = 0.1});
    EXPECT_FALSE(shown.per_nanometre);
    ASSERT_EQ(count(shown.notes, NoteKind::several), 1);
    EXPECT_FALSE(shown.notes.at(1).is_warning);
}

}  // namespace
}  // namespace pleat
