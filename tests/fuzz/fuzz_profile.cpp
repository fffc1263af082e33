// Fuzzer of the reader of curves: any bytes give a sound profile or an InputError, nothing else.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "pleat/bio/profile.h"
#include "pleat/core/error.h"

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

void check(const pleat::ProfileFile& file) {
    const pleat::Profile& profile = file.profile;
    require(profile.size() >= 3);
    require(profile.intensity.size() == profile.size() && profile.sigma.size() == profile.size());
    for (std::size_t k = 0; k < profile.size(); ++k) {
        require(std::isfinite(profile.intensity[k]) && std::isfinite(profile.sigma[k]));
        require(profile.sigma[k] > 0 && profile.q[k] >= 0);
        require(k == 0 || profile.q[k] >= profile.q[k - 1]);
    }
    require(profile.q.back() <= 10 && !file.notes.empty());
}

/// `fuzz:`, perhaps a line, and a text that says what was expected; no control characters but the
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

/// The first byte chooses the unit and whether errors are assumed, the rest is the file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    constexpr pleat::MomentumUnit kUnits[] = {pleat::MomentumUnit::automatic,
                                              pleat::MomentumUnit::per_angstrom,
                                              pleat::MomentumUnit::per_nanometre};
    pleat::ProfileOptions options;
    options.unit = kUnits[data[0] % 3];
    if (data[0] & 4) options.assumed_error = 0.05;
    try {
        const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
        pleat::ByteSource source("fuzz", bytes, 1 << 20);
        check(pleat::read_profile(source, options));
    } catch (const pleat::InputError& error) {
        check(std::string_view(error.what()));
    }
    return 0;
}
