// A consumer of the installed library: includes public headers, calls compiled code, catches its
// errors.
#include <cstdio>

#include "pleat/bio/alignment/read_alignment.h"
#include "pleat/core/error.h"
#include "pleat/weights/weights.h"

int main() {
    const auto family = pleat::read_alignment_from_memory("family.aln", "ACDEF\nACDEF\nACDEY\n");
    std::printf("%d sequences\n", static_cast<int>(family.sequence_count()));
    try {
        pleat::read_alignment_from_memory("broken.aln", "ACDEF\nACDEF\nACDE\n");
    } catch (const pleat::Error& error) {
        std::puts(error.what());
        return error.exit_code() == 3 ? 0 : 1;
    }
    return 1;
}
