// What all fuzzers share: the entry point, requirements, the form of a refusal, files in memory.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "pleat/core/error.h"
#include "pleat/core/files/text.h"

/// The function that libFuzzer and smoke.cpp call with every input.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace fuzz {

/// Ends the process where the condition does not hold, which a fuzzer counts as a finding.
inline void require(bool condition) {
    if (!condition) std::abort();
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

/// One to ten lines without control characters, as users see the error.
inline std::string require_printable(const pleat::Error& error) {
    const std::string message = pleat::error_text(error);
    int lines = 1;
    for (const unsigned char c : message) {
        lines += c == '\n';
        require(c == '\n' || (c >= ' ' && c != 0x7f));
    }
    require(lines <= 10);
    return message;
}

/// Printable, begins with the file's name, and says what was expected or what cannot be done.
inline void require_refusal(const pleat::InputError& error, std::string_view file = "fuzz") {
    const std::string message = require_printable(error);
    require(message.starts_with(file) && message.substr(file.size()).starts_with(":"));
    require(message.find("expected") != std::string::npos ||
            message.find("cannot") != std::string::npos);
}

/// A file that exists in memory alone, for readers that take a path.
class MemoryFile {
public:
    explicit MemoryFile(std::string_view bytes) : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)) {
        require(descriptor_ >= 0);
        while (!bytes.empty()) {
            const ::ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
            require(written > 0);
            bytes.remove_prefix(static_cast<std::size_t>(written));
        }
        path_ = "/proc/self/fd/" + std::to_string(descriptor_);
    }
    ~MemoryFile() { ::close(descriptor_); }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    const std::string& path() const { return path_; }

private:
    int descriptor_;
    std::string path_;
};

}  // namespace fuzz
