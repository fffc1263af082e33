// Long tests: whether tests that take minutes run; PLEAT_LONG_TESTS=1 asks for them.
#pragma once

#include <cstdlib>

namespace pleat::refine::test {

inline bool runs_long_tests() { return std::getenv("PLEAT_LONG_TESTS") != nullptr; }

}  // namespace pleat::refine::test
