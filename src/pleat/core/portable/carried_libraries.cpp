// What pleat calls of fmt and Highway, which Debian has as shared libraries alone: those need the
// libstdc++ of their release. fmt's code is in its header; Highway's decides which instructions the
// processor has.
#include <fmt/format-inl.h>
#include <hwy/targets.h>

template fmt::detail::dragonbox::decimal_fp<float> fmt::detail::dragonbox::to_decimal(float);
template fmt::detail::dragonbox::decimal_fp<double> fmt::detail::dragonbox::to_decimal(double);
template fmt::detail::thousands_sep_result<char> fmt::detail::thousands_sep_impl(locale_ref);
template char fmt::detail::decimal_point_impl(locale_ref);
template fmt::detail::locale_ref::locale_ref(const std::locale&);
template std::locale fmt::detail::locale_ref::get<std::locale>() const;

namespace hwy {
namespace {

std::atomic<std::int64_t> g_disabled{0};

// The groups of Highway's targets.cc; the compiler's function asks the system, too.
std::int64_t found_targets() {
    std::int64_t found = HWY_STATIC_TARGET;
#if HWY_ARCH_X86
    const auto all = [](auto... has) { return ((has != 0) && ...); };
    const bool ssse3 = all(__builtin_cpu_supports("ssse3"));
    const bool sse4 = ssse3 && all(__builtin_cpu_supports("sse4.2"), __builtin_cpu_supports("aes"),
                                   __builtin_cpu_supports("pclmul"));
    const bool avx2 = sse4 && all(__builtin_cpu_supports("avx2"), __builtin_cpu_supports("fma"),
                                  __builtin_cpu_supports("f16c"), __builtin_cpu_supports("lzcnt"),
                                  __builtin_cpu_supports("bmi"), __builtin_cpu_supports("bmi2"));
    const bool avx3 =
        avx2 && all(__builtin_cpu_supports("avx512f"), __builtin_cpu_supports("avx512vl"),
                    __builtin_cpu_supports("avx512cd"), __builtin_cpu_supports("avx512dq"),
                    __builtin_cpu_supports("avx512bw"));
    const bool dl =
        avx3 && all(__builtin_cpu_supports("avx512vnni"), __builtin_cpu_supports("vpclmulqdq"),
                    __builtin_cpu_supports("avx512vbmi"), __builtin_cpu_supports("avx512vbmi2"),
                    __builtin_cpu_supports("vaes"), __builtin_cpu_supports("avx512bitalg"),
                    __builtin_cpu_supports("avx512vpopcntdq"));
    found |= (ssse3 ? HWY_SSSE3 : 0) | (sse4 ? HWY_SSE4 : 0) | (avx2 ? HWY_AVX2 : 0) |
             (avx3 ? HWY_AVX3 : 0) | (dl ? HWY_AVX3_DL : 0);
#endif
    return found;
}

}  // namespace

std::int64_t SupportedTargets() {
    static const std::int64_t found = found_targets();
    const std::int64_t enabled = found & ~g_disabled;
    return enabled != 0 ? enabled : HWY_STATIC_TARGET;
}

void DisableTargets(std::int64_t disabled_targets) {
    g_disabled = disabled_targets;
    GetChosenTarget().DeInit();
}

ChosenTarget& GetChosenTarget() {
    static ChosenTarget chosen;
    return chosen;
}

}  // namespace hwy
