// Embedded files: data that the build copies from a file into the program.
#pragma once

#include <cstddef>
#include <string_view>

/// Defines the function `std::string_view name()` of the bytes of the file `path`, a string literal
/// that CMake's pleat_embed() defines.
#define PLEAT_EMBED(name, path)                                                                \
    asm(".pushsection .rodata\n.global " #name "_begin\n.global " #name "_end\n.hidden " #name \
        "_begin\n.hidden " #name "_end\n" #name "_begin:\n.incbin \"" path "\"\n" #name        \
        "_end:\n.byte 0\n.popsection\n");                                                      \
    extern "C" {                                                                               \
    extern const char name##_begin[] __attribute__((visibility("hidden")));                    \
    extern const char name##_end[] __attribute__((visibility("hidden")));                      \
    }                                                                                          \
    static std::string_view name() {                                                           \
        return {name##_begin, static_cast<std::size_t>(name##_end - name##_begin)};            \
    }
