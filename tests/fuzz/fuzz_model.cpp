// Fuzzer of the reader of plmc's binary models: any bytes give a sound model or an InputError,
// nothing else.
#include <algorithm>

#include "harness.h"
#include "pleat/bio/input/byte_source.h"
#include "pleat/couplings/files/plmc_file.h"

namespace {

void check(const pleat::couplings::SavedModel& saved) {
    const pleat::couplings::ModelDescription& about = saved.about;
    const pleat::Index columns = saved.model.column_count(), letters = saved.model.letter_count();
    const auto count = static_cast<std::size_t>(columns);
    fuzz::require(columns > 0 && about.alphabet != nullptr);
    fuzz::require(letters == about.alphabet->size() || letters == about.alphabet->gap());
    fuzz::require(saved.model.pairs.extent(0) == columns * (columns - 1) / 2);
    fuzz::require(saved.model.pairs.extent(1) == letters);
    fuzz::require(about.frequencies.extent(0) == columns);
    fuzz::require(about.columns.size() == count && about.reference.size() == count);
    fuzz::require(about.numbers.size() == count || about.sequence.empty());
    for (const pleat::Index number : about.numbers)
        fuzz::require(number >= 0 && number <= static_cast<pleat::Index>(about.sequence.size()));
}

}  // namespace

/// The first byte is left out, as seeds have one before the file; there is nothing to choose.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    try {
        pleat::ByteReader reader("fuzz", fuzz::text_of(data + 1, size - 1));
        check(pleat::couplings::read_plmc_model(reader));
    } catch (const pleat::InputError& error) {
        fuzz::require_refusal(error);
    }
    return 0;
}
