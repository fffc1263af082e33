// Fuzzer of the reader of predicted contacts: any bytes give sound pairs or an InputError, nothing
// else.
#include "harness.h"

#include "pleat/bio/input/byte_source.h"
#include "pleat/bio/structure/casp_contacts.h"
#include "pleat/core/error.h"

namespace {

void check(const pleat::PredictedContacts& found) {
    fuzz::require(!found.sequence.empty() && !found.pairs.empty());
    double before = 1;
    for (const pleat::PredictedContact& pair : found.pairs) {
        fuzz::require(pair.i >= 0 && pair.i < pair.j);
        fuzz::require(pair.j < static_cast<pleat::Index>(found.sequence.size()));
        fuzz::require(pair.probability >= 0 && pair.probability <= before);
        before = pair.probability;
    }
}

}  // namespace

/// The first byte is left out, as seeds have one before the file; there is nothing to choose.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    try {
        const std::string_view bytes = fuzz::text_of(data + 1, size - 1);
        pleat::ByteSource source("fuzz", bytes, 1 << 20);
        check(pleat::read_casp_contacts(source));
    } catch (const pleat::InputError& error) {
        fuzz::require_refusal(error);
    }
    return 0;
}
