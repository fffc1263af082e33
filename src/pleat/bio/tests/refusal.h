// Refusals: the text of the error that a call ends in.
#pragma once

#include <string>

#include "pleat/core/error.h"

namespace pleat::testing {

/// What the call says where it throws one of pleat's errors, or nothing where it does not.
template <class Call>
std::string refusal(const Call& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

}  // namespace pleat::testing
