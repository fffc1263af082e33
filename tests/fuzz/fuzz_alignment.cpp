// Fuzzer of the alignment reader: any bytes give a sound alignment or an InputError, nothing else.
#include "harness.h"

#include "pleat/bio/alignment/filter.h"
#include "pleat/bio/alignment/read_alignment.h"
#include "pleat/core/error.h"

namespace {

void check(const pleat::Alignment& alignment) {
    const pleat::Index count = alignment.sequence_count(), width = alignment.column_count();
    fuzz::require(count >= 2 && width >= 2);
    fuzz::require(alignment.names.size() == static_cast<std::size_t>(count));
    fuzz::require(alignment.columns.size() == static_cast<std::size_t>(width));
    for (pleat::Index j = 1; j < width; ++j) {
        fuzz::require(alignment.columns[j] > alignment.columns[j - 1]);
    }
    for (std::uint8_t code : alignment.letters) fuzz::require(code < alignment.alphabet->size());
}

/// What the reader says; empty if it accepts the bytes.
std::string refusal(std::string_view bytes, const pleat::ReadOptions& options) {
    try {
        pleat::read_alignment_from_memory("fuzz", bytes, options);
    } catch (const pleat::InputError& error) {
        return error.what();
    }
    return {};
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
    const pleat::Insertions insertions[] = {pleat::Insertions::automatic, pleat::Insertions::drop,
                                            pleat::Insertions::keep};
    options.insertions = insertions[data[0] / (4 * (formats.size() + 1)) % 3];
    options.keep_full_rows = true;
    if (data[0] >= 192) options.record = 2;
    options.max_bytes = 1 << 20;
    const std::string_view bytes = fuzz::text_of(data + 1, size - 1);
    const std::string text = refusal(bytes, options);
    options.max_kept_bytes = 100;
    fuzz::require(refusal(bytes, options) == text);
    try {
        const pleat::Alignment alignment =
            pleat::read_alignment_from_memory("fuzz", bytes, options);
        check(alignment);
        check(pleat::filter(alignment, {0.5, 0.5}));
    } catch (const pleat::InputError& error) {
        fuzz::require_refusal(error);
    }
    return 0;
}
