// Failure: pleat's errors say all themselves; others get their sentence here.
#include "failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>

#include "pleat/core/error.h"

namespace pleat::program {

namespace {

constexpr int kBug = 1, kDevice = 4;

}  // namespace

Failure current_failure() {
    try {
        throw;
    } catch (const OtherRankFailed& error) {
        return {"", error.exit_code()};
    } catch (const Error& error) {
        return {error.what(), error.exit_code()};
    } catch (const std::bad_alloc&) {
        return {
            "memory ran out; close other programs, or take fewer threads (-t) or less input",
            kDevice};
    } catch (const std::exception& error) {
        return {fmt::format("a bug of pleat: {}; please report it with the command and its input",
                            error.what()),
                kBug};
    }
}

std::string first_line(const std::string& text) {
    const std::size_t end = text.find('\n');
    if (end == std::string::npos) return text;
    return fmt::format("{} (and {} more like it)", text.substr(0, end),
                       std::count(text.begin(), text.end(), '\n'));
}

}  // namespace pleat::program
