// Name of: the name of a choice, by the names of all choices of its type.
#pragma once

#include <cstddef>
#include <string_view>

namespace pleat {

/// The name of an enumerator, which counts from 0, in the list that names_of() of its type returns.
template <class Enum>
std::string_view name_of(Enum choice) {
    return names_of(choice)[static_cast<std::size_t>(choice)];
}

}  // namespace pleat
