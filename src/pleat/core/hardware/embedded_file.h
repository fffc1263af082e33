// Embedded files: data that the build copies from a file into the program.
#pragma once

#include <cstddef>
#include <string_view>

// Assemblers of macOS name sections, hidden symbols and those of C in a way of their own.
#ifdef __APPLE__
#define PLEAT_EMBED_SECTION "__TEXT,__const"
#define PLEAT_EMBED_HIDDEN(symbol) ".globl _" symbol "\n.private_extern _" symbol "\n"
#define PLEAT_EMBED_LABEL(symbol) "_" symbol ":\n"
#else
#define PLEAT_EMBED_SECTION ".rodata"
#define PLEAT_EMBED_HIDDEN(symbol) ".globl " symbol "\n.hidden " symbol "\n"
#define PLEAT_EMBED_LABEL(symbol) symbol ":\n"
#endif

/// Defines the function `std::string_view name()` of the bytes of the file `path`, a string literal
/// that CMake's pleat_embed() defines.
#define PLEAT_EMBED(name, path)                                                               \
    asm(".pushsection " PLEAT_EMBED_SECTION "\n" PLEAT_EMBED_HIDDEN(#name "_begin")           \
            PLEAT_EMBED_HIDDEN(#name "_end")                                                  \
                PLEAT_EMBED_LABEL(#name "_begin") ".incbin \"" path "\"\n" PLEAT_EMBED_LABEL( \
                    #name "_end") ".byte 0\n.popsection\n");                                  \
    extern "C" {                                                                              \
    extern const char name##_begin[] __attribute__((visibility("hidden")));                   \
    extern const char name##_end[] __attribute__((visibility("hidden")));                     \
    }                                                                                         \
    static std::string_view name() {                                                          \
        return {name##_begin, static_cast<std::size_t>(name##_end - name##_begin)};           \
    }
