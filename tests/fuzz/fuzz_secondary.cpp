// Fuzzer of the reader of secondary structures: any bytes give sound pairs or an InputError,
// nothing else.
#include "harness.h"

#include <set>

#include "pleat/bio/alignment/secondary_structure.h"
#include "pleat/core/error.h"

namespace {

void check(const pleat::SecondaryStructure& found) {
    fuzz::require(!found.marks.empty());
    std::set<pleat::Index> paired;
    for (const auto& [first, second] : nested_pairs(found)) {
        fuzz::require(first >= 0 && first < second);
        fuzz::require(second < static_cast<pleat::Index>(found.marks.size()));
        fuzz::require(paired.insert(first).second && paired.insert(second).second);
    }
}

}  // namespace

/// The first byte is left out, as seeds have one before the file; there is nothing to choose.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    try {
        check(
            pleat::read_secondary_structure_from_memory("fuzz", fuzz::text_of(data + 1, size - 1)));
    } catch (const pleat::InputError& error) {
        fuzz::require_refusal(error);
    }
    return 0;
}
