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
    const auto add = [&](std::int64_t target, auto... has) {
        found |= ((has != 0) && ...) ? target : 0;
        return ((has != 0) && ...);
    };
    add(HWY_SSSE3, __builtin_cpu_supports("ssse3")) &&
        add(HWY_SSE4, __builtin_cpu_supports("x86-64-v2"), __builtin_cpu_supports("aes"),
            __builtin_cpu_supports("pclmul")) &&
        add(HWY_AVX2, __builtin_cpu_supports("x86-64-v3")) &&
        add(HWY_AVX3, __builtin_cpu_supports("x86-64-v4")) &&
        add(HWY_AVX3_DL, __builtin_cpu_supports("avx512vnni"), __builtin_cpu_supports("vpclmulqdq"),
            __builtin_cpu_supports("avx512vbmi"), __builtin_cpu_supports("avx512vbmi2"),
            __builtin_cpu_supports("vaes"), __builtin_cpu_supports("avx512bitalg"),
            __builtin_cpu_supports("avx512vpopcntdq"));
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
