// Lane objects: a number drawn once per process tells processes apart.
#include "pleat/core/ranks/lane_objects.h"

#include <cstring>
#include <random>

namespace pleat {

bool are_one_process(const Context& context) {
    if (context.ranks() == 1) return true;
    static const double process = [] {
        std::random_device random;
        return static_cast<double>(random()) * 0x1p20 + static_cast<double>(random() >> 12);
    }();
    double bounds[] = {process, -process};
    context.comm->raise(bounds);
    return bounds[0] == -bounds[1];
}

void wait_for_ranks(const Context& context) {
    if (context.comm != nullptr) context.comm->barrier();
}

std::vector<std::uintptr_t> numbers_of_ranks(const Context& context, std::uintptr_t own) {
    std::vector<std::uintptr_t> numbers;
    for (int rank = 0; rank < context.ranks(); ++rank) {
        std::vector<std::uint8_t> bytes(sizeof own);
        std::memcpy(bytes.data(), &own, sizeof own);
        if (context.comm != nullptr) context.comm->broadcast(bytes, rank);
        std::uintptr_t number = 0;
        std::memcpy(&number, bytes.data(), sizeof number);
        numbers.push_back(number);
    }
    return numbers;
}

}  // namespace pleat
