// Fuzzer of the reader of predicted contacts: any bytes give sound pairs or an InputError, nothing
// else.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "pleat/bio/casp_contacts.h"
#include "pleat/core/error.h"

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

void check(const pleat::PredictedContacts& found) {
    require(!found.sequence.empty() && !found.pairs.empty());
    double before = 1;
    for (const pleat::PredictedContact& pair : found.pairs) {
        require(pair.i >= 0 && pair.i < pair.j);
        require(pair.j < static_cast<pleat::Index>(found.sequence.size()));
        require(pair.probability >= 0 && pair.probability <= before);
        before = pair.probability;
    }
}

/// As in the other fuzzers: what was expected, in at most ten printable lines.
void check(std::string_view refusal) {
    require(refusal.starts_with("fuzz:"));
    require(refusal.find("expected") != std::string_view::npos);
    int lines = 1;
    for (const char c : refusal) {
        lines += c == '\n';
        require(c == '\n' || (c >= ' ' && c < 0x7f));
    }
    require(lines <= 10);
}

}  // namespace

/// The first byte is left out, as seeds have one before the file; there is nothing to choose.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    try {
        const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
        pleat::ByteSource source("fuzz", bytes, 1 << 20);
        check(pleat::read_casp_contacts(source));
    } catch (const pleat::InputError& error) {
        check(std::string_view(error.what()));
    }
    return 0;
}
