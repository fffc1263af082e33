// Fuzzer of the reader of curves: any bytes give a sound profile or an InputError, nothing else.
#include "harness.h"

#include <cmath>

#include "pleat/bio/input/byte_source.h"
#include "pleat/bio/scattering/profile.h"
#include "pleat/core/error.h"

namespace {

void check(const pleat::ProfileFile& file) {
    const pleat::Profile& profile = file.profile;
    fuzz::require(profile.size() >= 3);
    fuzz::require(profile.intensity.size() == profile.size() &&
                  profile.sigma.size() == profile.size());
    fuzz::require(profile.dq.empty() || profile.dq.size() == profile.size());
    for (std::size_t k = 0; k < profile.size(); ++k) {
        fuzz::require(std::isfinite(profile.intensity[k]) && std::isfinite(profile.sigma[k]));
        fuzz::require(profile.sigma[k] > 0 && profile.q[k] >= 0);
        fuzz::require(profile.dq.empty() || (profile.dq[k] >= 0 && std::isfinite(profile.dq[k])));
        fuzz::require(k == 0 || profile.q[k] >= profile.q[k - 1]);
    }
    fuzz::require(profile.q.back() <= 10 && !file.notes.empty());
}

}  // namespace

/// The first byte chooses the unit, whether errors are assumed and whether column 4 is read, the
/// rest is the file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    constexpr pleat::MomentumUnit kUnits[] = {pleat::MomentumUnit::automatic,
                                              pleat::MomentumUnit::per_angstrom,
                                              pleat::MomentumUnit::per_nanometre};
    pleat::ProfileOptions options;
    options.unit = kUnits[data[0] % 3];
    if (data[0] & 4) options.assumed_error = 0.05;
    options.smear = (data[0] & 8) != 0;
    if (data[0] & 16) options.columns = "1,2,4";
    if (data[0] & 32) options.curve = "2";
    if (data[0] & 64) options.q_min = 0.02;
    if (data[0] & 128) options.structure_gyration = 14;
    try {
        const std::string_view bytes = fuzz::text_of(data + 1, size - 1);
        pleat::ByteSource source("fuzz", bytes, 1 << 20);
        check(pleat::read_profile(source, options));
    } catch (const pleat::InputError& error) {
        fuzz::require_refusal(error);
    }
    return 0;
}
