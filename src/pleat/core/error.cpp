// Errors: composing the one-line form `file:line: text`.
#include "pleat/core/error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "pleat/core/files/printable.h"

namespace pleat {

namespace {

std::string located(std::string_view file, std::int64_t line, std::string_view text) {
    if (file.empty()) return std::string(text);
    return line > 0 ? fmt::format("{}:{}: {}", file, line, text)
                    : fmt::format("{}: {}", file, text);
}

}  // namespace

InputError::InputError(std::string_view file, std::int64_t line, std::string_view text)
    : Error(located(file, line, text), 3) {}

void Complaints::add(std::int64_t line, std::string_view text) {
    lines_.push_back(printable(located(file_, line, text)));
    if (lines_.size() == kMaxLines) throw_if_any();
}

void Complaints::throw_if_any() const {
    if (lines_.empty()) return;
    throw InputErrors(fmt::format("{}", fmt::join(lines_, "\n")));
}

}  // namespace pleat
