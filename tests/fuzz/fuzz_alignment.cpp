// Fuzzer of the alignment reader: any bytes give a sound alignment or an InputError, nothing else.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "pleat/bio/filter.h"
#include "pleat/bio/read_alignment.h"
#include "pleat/core/error.h"

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

void check(const pleat::Alignment& alignment) {
    const pleat::Index count = alignment.sequence_count(), width = alignment.column_count();
    require(count >= 2 && width >= 2);
    require(alignment.names.size() == static_cast<std::size_t>(count));
    require(alignment.columns.size() == static_cast<std::size_t>(width));
    for (pleat::Index j = 1; j < width; ++j) {
        require(alignment.columns[j] > alignment.columns[j - 1]);
    }
    for (std::uint8_t code : alignment.letters) require(code < alignment.alphabet->size());
}

/// `file:`, perhaps a line, and a text that says what was expected; no control characters but the
/// ends of at most ten lines.
void check(std::string_view refusal) {
    require(refusal.starts_with("fuzz:"));
    require(refusal.find("expected") != std::string_view::npos);
    int lines = 1;
    for (char c : refusal) {
        lines += c == '\n';
        require(c == '\n' || (c >= ' ' && c < 0x7f));
    }
    require(lines <= 10);
}

}  // namespace

/// The first byte chooses format and alphabet, the rest is the file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    pleat::ReadOptions options;
    const auto& formats = pleat::alignment_formats();
    const std::size_t format = data[0] % (formats.size() + 1);
    if (format > 0) options.format = formats[format - 1];
    const char* const alphabets[] = {"", "protein", "rna", "dna"};
    options.alphabet = alphabets[data[0] / (formats.size() + 1) % 4];
    options.most_bytes = 1 << 20;
    try {
        const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
        const pleat::Alignment alignment =
            pleat::read_alignment_from_memory("fuzz", bytes, options);
        check(alignment);
        check(pleat::filter(alignment, {0.5, 0.5}));
    } catch (const pleat::InputError& error) {
        check(std::string_view(error.what()));
    }
    return 0;
}
