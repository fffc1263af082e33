// Folders of the tests' data: those of the sources, or those that the environment names.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

namespace pleat::test {

inline std::filesystem::path folder_or(const char* variable, const char* built_in) {
    const char* named = std::getenv(variable);
    return named != nullptr && *named != '\0' ? named : built_in;
}

/// The repository's data/; PLEAT_TEST_DATA.
inline std::filesystem::path data_folder() { return folder_or("PLEAT_TEST_DATA", PLEAT_DATA); }

/// The repository's reference answers for one module: data/oracles/MODULE. data/README.md tells how
/// they are made.
inline std::filesystem::path committed_oracles(const std::string& module) {
    return data_folder() / "oracles" / module;
}

/// Larger data beside the repository, which may be absent; PLEAT_TEST_SHARED.
inline std::filesystem::path shared_folder() {
    return folder_or("PLEAT_TEST_SHARED", PLEAT_SHARED);
}

/// Whether this file or folder of shared_folder() is present. If not, prints that the test compares
/// the files of data/ alone.
inline bool shared_is_present(const std::filesystem::path& path) {
    if (std::filesystem::exists(path)) return true;
    std::cout << "[   NOTE   ] " << path.string()
              << " is absent: this test compares the files of data/ alone\n";
    return false;
}

}  // namespace pleat::test
