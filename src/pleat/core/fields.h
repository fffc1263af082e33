// Fields: an engine's options, each described once; they feed flags, Python keywords, docs,
// manifest.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <variant>
#include <vector>

namespace pleat {

/// One option of a Parameters struct, bound to a live instance of it: `target` points into the
/// struct handed to `fields(parameters)`, so reading it gives the current value and writing it sets
/// the option. The default is whatever a default-constructed struct holds.
struct Field {
    using Target = std::variant<bool*, std::int64_t*, double*, std::string*>;

    std::string name;  ///< long flag without dashes: "lambda-pair"
    Target target;
    std::string help;       ///< one sentence, no full stop at the end
    std::string unit = {};  ///< "angstrom", "bits", ...; empty for pure numbers
    char letter = '\0';     ///< short flag, or none
    double least = -std::numeric_limits<double>::infinity();
    double most = std::numeric_limits<double>::infinity();
    bool least_excluded = false;            ///< the range is open at `least`
    std::vector<std::string> choices = {};  ///< allowed values of a string option; empty = any
    std::string automatic = {};   ///< what NaN (double) or -1 (integer) means: "0.2 (L - 1)"
    bool negated_flag = false;    ///< a bool that is true by default, offered as --no-NAME
    std::string value_name = {};  ///< what help calls the value: "FILE"; empty: by its type

    /// The current value as text, as a manifest and --help show it: the shortest digits that give
    /// the same double; the words of `automatic` where the value says so. `set(text())` keeps it.
    std::string text() const;
    /// Sets the value from text ("auto" where `automatic` is given); throws UsageError naming the
    /// option, its range and what was found, and then leaves the value as it was.
    void set(const std::string& text);
    /// Throws UsageError when the current value is outside the range or choices.
    void check() const;
};

/// Checks every field; the first line of each engine's run().
void check(const std::vector<Field>& fields);

}  // namespace pleat
