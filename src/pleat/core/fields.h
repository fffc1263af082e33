// Fields: an engine's options, each described once; they feed flags, Python keywords, docs,
// manifest.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#pragma GCC visibility push(default)

namespace pleat {

/// An enumeration as the target of a field. Its values are 0, 1, 2, ...; a function
/// `names_of(Enum)` next to the enumeration returns their names in this order, as flags, Python and
/// manifests show them.
class Choice {
public:
    template <class Enum>
    requires std::is_enum_v<Enum> Choice(Enum* value)
        : value_(value),
          names_(names_of(*value)),
          get_([](const void* from) { return static_cast<int>(*static_cast<const Enum*>(from)); }),
          set_([](void* to, int number) { *static_cast<Enum*>(to) = static_cast<Enum>(number); }) {}

    std::span<const std::string_view> names() const { return names_; }
    /// The name of the current value; empty if it has none.
    std::string_view name() const;
    /// Sets the value with this name; returns false without a change if there is none.
    bool set(std::string_view name);

private:
    void* value_;
    std::span<const std::string_view> names_;
    int (*get_)(const void*);
    void (*set_)(void*, int);
};

/// A field target whose type has its own text format. The type needs `std::string text() const`,
/// empty if not set, and `static T parse(std::string_view text, std::string_view option)`, which
/// throws UsageError.
class TextTarget {
public:
    template <class T>
    requires requires(const T& value) { value.text(); }
    TextTarget(T* value)
        : value_(value),
          get_([](const void* from) { return static_cast<const T*>(from)->text(); }),
          set_([](void* to, std::string_view text, std::string_view option) {
              *static_cast<T*>(to) = T::parse(text, option);
          }) {}

    std::string text() const { return get_(value_); }
    void set(std::string_view text, std::string_view option) { set_(value_, text, option); }

private:
    void* value_;
    std::string (*get_)(const void*);
    void (*set_)(void*, std::string_view, std::string_view);
};

/// One option of a Parameters struct, bound to a live instance of it: `target` points into the
/// struct given to `fields(parameters)`, so that reading it gives the current value and writing it
/// sets the option. The default is the value in a default-constructed struct.
struct Field {
    using Target =
        std::variant<bool*, std::int64_t*, double*, std::string*, std::optional<std::int64_t>*,
                     std::optional<double>*, Choice, TextTarget>;

    std::string name;  ///< long flag without dashes: "lambda-pair"
    Target target;
    std::string help;       ///< one sentence, no full stop at the end
    std::string unit = {};  ///< "angstrom", "bits", ...; empty for pure numbers
    char letter = '\0';     ///< short flag, or none
    double min = -std::numeric_limits<double>::infinity();
    double max = std::numeric_limits<double>::infinity();
    bool min_excluded = false;              ///< the range is open at `min`
    std::vector<std::string> choices = {};  ///< allowed values of a string option; empty = any
    std::string automatic = {};   ///< what an optional without a value means: "0.2 (L - 1)", "none"
    bool negated_flag = false;    ///< a bool that is true by default, offered as --no-NAME
    std::string value_name = {};  ///< what help calls the value: "FILE"; empty: by its type

    /// The allowed values of a string or an enumeration; empty = any, or a number.
    std::vector<std::string> allowed() const;
    bool is_flag() const { return std::holds_alternative<bool*>(target); }
    bool is_whole_number() const;
    bool is_number() const;  ///< of either kind, optional or not
    /// Whether the current value is the automatic one.
    bool is_automatic() const;
    /// Makes the value automatic; UsageError if the field has no `automatic`.
    void set_automatic();
    /// The current value as manifests and --help show it: the shortest digits that give the same
    /// double, or the words of `automatic`. `set(text())` does not change the value.
    std::string text() const;
    /// Sets the value from text ("auto" if `automatic` is given). Throws UsageError naming the
    /// option, its range and the given text, without changing the value.
    void set(const std::string& text);
    /// Throws UsageError if the current value is outside the range or choices.
    void check() const;
};

/// Checks every field; each engine's run() begins with it.
void check(const std::vector<Field>& fields);

}  // namespace pleat

#pragma GCC visibility pop
