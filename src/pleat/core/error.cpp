// Errors: the one-line form `file:line: text`, and any exception as a user sees it.
#include "pleat/core/error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <new>
#include <system_error>

#include "pleat/core/failure.h"
#include "pleat/core/files/text.h"

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

namespace {

constexpr int kBug = 1, kDevice = 4, kOutput = 5;

/// A system error that no reader or writer reported: a limit of this process or machine, or a
/// folder of results that another process changed.
Failure of_system(const std::string& what, const std::error_code& reason) {
    const bool is_file_limit = reason == std::errc::too_many_files_open ||
                               reason == std::errc::too_many_files_open_in_system;
    const bool is_limit = is_file_limit || reason == std::errc::resource_unavailable_try_again ||
                          reason == std::errc::not_enough_memory;
    const char* const advice = is_file_limit ? "; raise the limit (ulimit -n)"
                               : is_limit    ? "; close other programs, or take fewer threads (-t)"
                                             : "";
    return {fmt::format("{}: {}{}", what, reason.message(), advice), is_limit ? kDevice : kOutput};
}

}  // namespace

Failure current_failure() {
    try {
        throw;
    } catch (const OtherRankFailed& error) {
        return {"", error.exit_code()};
    } catch (const Error& error) {
        return {error_text(error), error.exit_code()};
    } catch (const std::bad_alloc&) {
        return {"memory ran out; close other programs, or take fewer threads (-t) or less input",
                kDevice};
    } catch (const std::filesystem::filesystem_error& error) {
        return of_system(printable(error.path1().string()) + ": cannot be used", error.code());
    } catch (const std::system_error& error) {
        return of_system("the system refused a thread or a file", error.code());
    } catch (const std::exception& error) {
        return {fmt::format("a bug of pleat: {}; please report it with the command and its input",
                            error_text(error)),
                kBug};
    }
}

std::string first_line(const std::string& text) {
    const std::size_t end = text.find('\n');
    if (end == std::string::npos) return text;
    return fmt::format("{} (and {} more like it)", text.substr(0, end),
                       std::ranges::count(text, '\n'));
}

}  // namespace pleat
