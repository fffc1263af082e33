// Devices: their names, read and written.
#include "pleat/core/device.h"

#include <fmt/format.h>

#include "pleat/core/error.h"
#include "pleat/core/files/text.h"

namespace pleat {

Device Device::parse(std::string_view text) {
    constexpr std::string_view kCuda = "cuda";
    if (text == "reference") return {Kind::reference, 0};
    if (text == "cpu") return {Kind::cpu, 0};
    if (text == kCuda) return {Kind::cuda, 0};
    if (text.starts_with("cuda:")) {
        int index = -1;
        if (parse_number(text.substr(kCuda.size() + 1), index) && index >= 0)
            return {Kind::cuda, index};
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
