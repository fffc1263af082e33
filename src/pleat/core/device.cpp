// Devices: their names, read and written.
#include "pleat/core/device.h"

#include <fmt/format.h>

#include <charconv>

#include "pleat/core/error.h"

namespace pleat {

Device Device::parse(std::string_view text) {
    constexpr std::string_view kCuda = "cuda";
    if (text == "reference") return {Kind::reference, 0};
    if (text == "cpu") return {Kind::cpu, 0};
    if (text == kCuda) return {Kind::cuda, 0};
    if (text.starts_with("cuda:")) {
        const std::string_view digits = text.substr(kCuda.size() + 1);
        int index = -1;
        const char* const last = digits.data() + digits.size();
        const auto [end, error] = std::from_chars(digits.data(), last, index);
        if (error == std::errc{} && end == last && index >= 0) return {Kind::cuda, index};
    }
    throw UsageError(
        fmt::format("--device: expected reference, cpu, cuda or cuda:NUMBER, found '{}'", text));
}

std::string_view Device::kind_name() const {
    switch (kind) {
        case Kind::reference: return "reference";
        case Kind::cpu: return "cpu";
        case Kind::cuda: break;
    }
    return "cuda";
}

std::string Device::name() const {
    if (kind != Kind::cuda) return std::string(kind_name());
    return fmt::format("cuda:{}", index);
}

}  // namespace pleat
