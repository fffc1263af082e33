// Curve names: what columns and units of q are called by the programs that write curves.
#include <algorithm>
#include <cctype>

#include "pleat/bio/scattering/curve_table.h"
#include "pleat/bio/scattering/profile.h"

namespace pleat {

namespace {

/// Lower-case letters alone, without what is in brackets: "I(q) [1/cm]" becomes "i".
std::string key_of(std::string_view name) {
    std::string key;
    int depth = 0;
    for (const char c : lower_case(name)) {
        depth += c == '(' || c == '[';
        if (depth == 0 && c >= 'a' && c <= 'z') key += c;
        depth -= (c == ')' || c == ']') && depth > 0;
    }
    return key;
}

std::string trimmed(std::string_view text) {
    constexpr std::string_view kAround = " \t#%!\"'<>|*";
    const std::size_t from = text.find_first_not_of(kAround);
    if (from == std::string_view::npos) return {};
    return std::string(text.substr(from, text.find_last_not_of(kAround) - from + 1));
}

/// The parts of a line between separators; a unit in brackets belongs to the name before it.
std::vector<std::string> parts_of(std::string_view line, std::string_view separator) {
    std::vector<std::string> parts;
    while (!line.empty()) {
        const std::size_t end = std::min(line.find(separator), line.size());
        const std::string part = trimmed(line.substr(0, end));
        line.remove_prefix(std::min(end + separator.size(), line.size()));
        // Tables of pandas begin with a column of no name.
        if (part.empty() && !(parts.empty() && separator == ",")) continue;
        const bool is_unit = part.starts_with('[') || part.starts_with('(');
        if (is_unit && !parts.empty())
            parts.back() += " " + part;
        else
            parts.push_back(part);
    }
    return parts;
}

}  // namespace

std::string lower_case(std::string_view text) {
    std::string low(text);
    for (char& c : low) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return low;
}

ColumnRole role_of(std::string_view name) {
    static constexpr std::pair<ColumnRole, std::string_view> kNames[] = {
        {ColumnRole::momentum,
         " q s h x sexp qexp qvec qvector momentumtransfer scatteringvector qvalues qa qnm "
         "qinvangstrom qinvnm "},
        {ColumnRole::intensity,
         " i y iexp iq is int intensity intensities expintensity jexp iobs counts icm expi "
         "experimentalintensity "},
        {ColumnRole::error,
         " e err error errors sig sigma dy di idev std sd stddev stddevi esd experror sigi sigmai "
         "erri ierr ierror errori sigcm sigmaiq intensityerror uncertainty "},
        {ColumnRole::spread, " dq sigmaq sigq dsigq qdev qerr qerror dx "},
        {ColumnRole::other,
         " r pr p fit ifit model modelintensity jreg ireg imod imodel icalc calc theory atom shape "
         "border size radius diameter distance "}};
    // "q A-1": a unit behind a blank.
    const std::string start = lower_case(name.substr(0, 2));
    const std::string key = key_of(start == "q " || start == "s " ? name.substr(0, 1) : name);
    for (const auto& [role, names] : kNames)
        if (names.find(" " + key + " ") != std::string_view::npos) return role;
    for (const std::string_view part : {"err", "sig", "std", "uncert"})
        if (key.find(part) != std::string::npos && key.find('q') == std::string::npos)
            return ColumnRole::error;
    // Irena's SMR_Qvec, SMR_Int, and Q_sample, R_sample, S_sample.
    const std::string low = lower_case(name);
    if (low.ends_with("_qvec") || low.starts_with("q_")) return ColumnRole::momentum;
    if (low.ends_with("_int") || low.starts_with("r_")) return ColumnRole::intensity;
    if (low.starts_with("s_")) return ColumnRole::error;
    return low.starts_with("w_") ? ColumnRole::spread : ColumnRole::unknown;
}

bool is_density_name(std::string_view name) {
    const std::string key = key_of(name);
    return key == "p" || key == "g" || key.ends_with("pr") || key.ends_with("distribution");
}

std::vector<std::string> column_names(std::string_view line, std::size_t width) {
    if (line.find("Dif/Atom/Shape/Bord") != std::string_view::npos)  // CRYSOL's .int
        return {"q", "I", "atom", "shape", "border"};
    // Behind the names, programs write the quality of a fit.
    const std::string low = lower_case(line);
    const std::size_t end = std::min({low.find("chi"), low.find("//"), line.size()});
    line = line.substr(0, end);
    std::vector<std::string> best;
    for (const std::string_view separator : {"\t", "|", ",", ";", "  ", " "}) {
        std::vector<std::string> parts = parts_of(line, separator);
        for (std::string& part : parts)
            if (const std::size_t colon = part.rfind(": "); colon != std::string::npos)
                part = trimmed(part.substr(colon + 2));
        const auto first = std::ranges::find_if(parts, [](const std::string& part) {
            return role_of(part) == ColumnRole::momentum || role_of(part) == ColumnRole::other;
        });
        const auto has = [&](ColumnRole role) {
            return std::ranges::find(parts, role, role_of) != parts.end();
        };
        // As many names as columns, in any order, behind one that may be unknown.
        const bool are_all =
            parts.size() == width && has(ColumnRole::momentum) && has(ColumnRole::intensity) &&
            std::ranges::find(parts.begin() + 1, parts.end(), ColumnRole::unknown, role_of) ==
                parts.end();
        // Words of a sentence are not names: "noise; q in 1/angstrom", "q_min = 0.01".
        const bool is_list =
            first == parts.begin() && std::ranges::none_of(parts, &std::string::empty, key_of);
        if (!are_all) parts.erase(parts.begin(), first);
        const bool has_intensity =
            has(ColumnRole::intensity) || std::ranges::any_of(parts, is_density_name);
        const bool is_whole = is_list && parts.size() == width && !parts.empty() &&
                              role_of(parts.front()) == ColumnRole::momentum;
        if (parts.size() < 2 || parts.size() > width || !(has_intensity || is_whole)) continue;
        if (best.empty() || (best.size() != width && parts.size() == width)) best = parts;
    }
    return best;
}

MomentumUnit unit_named(std::string_view text) {
    // Without signs of powers: "[A^{-1}]" becomes "[a-1]".
    std::string word;
    for (const char c : lower_case(text))
        if (std::string_view("^{}*$\\").find(c) == std::string_view::npos)
            word += c == '_' ? ' ' : c;
    static constexpr std::string_view kPerNanometre[] = {"1/nm",        "nm-1",         "1/nanomet",
                                                         "nanometer-1", "inverse nano", "inv nm"};
    static constexpr std::string_view kPerAngstrom[] = {
        "1/ang", "1/a", "a-1", "angstrom-1", "ang-1", "inverse ang", "per ang", "inv ang"};
    const auto is_letter = [&](std::size_t k) {
        return k < word.size() && std::isalpha(static_cast<unsigned char>(word[k]));
    };
    const auto is_there = [&](std::string_view spelling) {
        const std::size_t at = word.find(spelling);
        // "1/area" and "sigma-1" name no unit.
        return at != std::string::npos && !(spelling == "1/a" && is_letter(at + 3)) &&
               !(spelling[0] != '1' && at > 0 && is_letter(at - 1));
    };
    if (std::ranges::any_of(kPerNanometre, is_there)) return MomentumUnit::per_nanometre;
    if (std::ranges::any_of(kPerAngstrom, is_there)) return MomentumUnit::per_angstrom;
    return MomentumUnit::automatic;
}

MomentumUnit unit_in_prose(std::string_view line) {
    // FoXS computes in 1/angstrom alone.
    if (line.find("SAXS profile: number of points") != std::string_view::npos)
        return MomentumUnit::per_angstrom;
    std::string low = " " + lower_case(line.substr(0, 300)) + " ";
    for (char& c : low)
        if (std::string_view("\t\"_([=:").find(c) != std::string_view::npos) c = ' ';
    static constexpr std::string_view kTopics[] = {" q ",   " s ",      " q-",
                                                   " unit", "momentum", "scattering vector"};
    const bool is_about_q = std::ranges::any_of(
        kTopics, [&](std::string_view topic) { return low.find(topic) != std::string::npos; });
    return is_about_q ? unit_named(low) : MomentumUnit::automatic;
}

}  // namespace pleat
