// Errors: what can go wrong, with the exit code of the program for each kind.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace pleat {

/// Base of every error that pleat throws on purpose. The text says what was expected, what was
/// found and, if possible, what to do about it.
class Error : public std::runtime_error {
public:
    Error(const std::string& text, int exit_code)
        : std::runtime_error(text), exit_code_(exit_code) {}
    int exit_code() const { return exit_code_; }

private:
    int exit_code_;
};

/// The request is impossible: an option out of range, a missing argument, arrays of wrong shapes.
class UsageError : public Error {
public:
    explicit UsageError(const std::string& text) : Error(text, 2) {}
};

/// A file does not have the expected content. `family.a3m:17: expected 120 aligned columns, found
/// 118 ...`
class InputError : public Error {
public:
    explicit InputError(const std::string& text) : Error(text, 3) {}
    /// `line` counts from 1; 0 if the complaint concerns the whole file.
    InputError(std::string_view file, std::int64_t line, std::string_view text);
};

/// The device is missing, has too little memory, or failed.
class DeviceError : public Error {
public:
    explicit DeviceError(const std::string& text) : Error(text, 4) {}
};

/// A result could not be written (disk full, no permission, output exists).
class OutputError : public Error {
public:
    explicit OutputError(const std::string& text) : Error(text, 5) {}
};

/// The user asked to stop (Ctrl-C). Finished work is saved if the command saves its state.
class Cancelled : public Error {
public:
    explicit Cancelled(const std::string& text) : Error(text, 130) {}
};

/// Another rank of the run failed, and reports the reason itself.
class OtherRankFailed : public Error {
public:
    explicit OtherRankFailed(int exit_code = 1)
        : Error("stopped because another rank failed", exit_code) {}
};

/// Collects complaints about one file and throws them together, at most ten, one per line, so that
/// a user can fix them at once.
class Complaints {
public:
    explicit Complaints(std::string file) : file_(std::move(file)) {}
    /// Records one complaint; throws at once when there are ten.
    void add(std::int64_t line, std::string_view text);
    /// Throws InputError when anything was recorded.
    void throw_if_any() const;
    bool empty() const { return lines_.empty(); }

private:
    static constexpr std::size_t kMaxLines = 10;
    std::string file_;
    std::vector<std::string> lines_;
};

}  // namespace pleat

#pragma GCC visibility pop
