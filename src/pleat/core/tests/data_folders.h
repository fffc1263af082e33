// Folders of the tests' data: those of the sources, or where the environment says they were taken.
#pragma once

#include <cstdlib>
#include <filesystem>

namespace pleat::test {

inline std::filesystem::path folder_or(const char* variable, const char* built_in) {
    const char* named = std::getenv(variable);
    return named != nullptr && *named != '\0' ? named : built_in;
}

/// The repository's data/; PLEAT_TEST_DATA.
inline std::filesystem::path data_folder() { return folder_or("PLEAT_TEST_DATA", PLEAT_DATA); }

/// What lies beside the repository and may be absent; PLEAT_TEST_SHARED.
inline std::filesystem::path shared_folder() {
    return folder_or("PLEAT_TEST_SHARED", PLEAT_SHARED);
}

}  // namespace pleat::test
