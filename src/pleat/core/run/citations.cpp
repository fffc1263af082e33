// Citations: citations.bib in the library's read-only data, and finding a paper in it.
#include "pleat/core/run/citations.h"

#include <stdexcept>

// PLEAT_CITATIONS is a string literal, the path that CMake gives.
asm(".pushsection .rodata\n"
    ".global pleat_citations_begin\n"
    ".global pleat_citations_end\n"
    ".hidden pleat_citations_begin\n"
    ".hidden pleat_citations_end\n"
    "pleat_citations_begin:\n"
    ".incbin \"" PLEAT_CITATIONS
    "\"\n"
    "pleat_citations_end:\n"
    ".byte 0\n"
    ".popsection\n");

extern "C" {
extern const char pleat_citations_begin[] __attribute__((visibility("hidden")));
extern const char pleat_citations_end[] __attribute__((visibility("hidden")));
}

namespace pleat {

Citation find_citation(std::string_view key) {
    const std::string_view all(
        pleat_citations_begin,
        static_cast<std::size_t>(pleat_citations_end - pleat_citations_begin));
    // An entry begins with "@kind{KEY," and ends with "}" on a line of its own. The line before it
    // is its text.
    const std::size_t name = all.find("{" + std::string(key) + ",\n");
    const std::size_t begin = name == all.npos ? name : all.rfind("\n@", name);
    if (begin == all.npos) throw std::logic_error("no citation with the key " + std::string(key));
    const std::size_t text = all.rfind('\n', begin - 1) + 1;
    const std::size_t end = all.find("\n}\n", name) + 3;
    return {std::string(key), std::string(all.substr(text, begin - text)),
            std::string(all.substr(begin + 1, end - begin - 1))};
}

}  // namespace pleat
