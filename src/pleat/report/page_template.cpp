// Page template: the assembler embeds the built page in the library's read-only data.
#include "pleat/report/page_template.h"

// PLEAT_PAGE is a string literal, the path that CMake gives.
asm(".pushsection .rodata\n"
    ".global pleat_page_begin\n"
    ".global pleat_page_end\n"
    ".hidden pleat_page_begin\n"
    ".hidden pleat_page_end\n"
    "pleat_page_begin:\n"
    ".incbin \"" PLEAT_PAGE
    "\"\n"
    "pleat_page_end:\n"
    ".byte 0\n"
    ".popsection\n");

extern "C" {
extern const char pleat_page_begin[] __attribute__((visibility("hidden")));
extern const char pleat_page_end[] __attribute__((visibility("hidden")));
}

namespace pleat::report {

std::string_view page_template() {
    return {pleat_page_begin, static_cast<std::size_t>(pleat_page_end - pleat_page_begin)};
}

}  // namespace pleat::report
