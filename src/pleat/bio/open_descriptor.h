// Open descriptor: a file opened for reading, with errors that name it.
#pragma once

#include <filesystem>

namespace pleat {

/// Owns a file descriptor; standard input is left open.
class OpenDescriptor {
public:
    /// Takes over a descriptor; negative: none.
    explicit OpenDescriptor(int number) : number_(number) {}
    /// Opens a file, "-" being standard input; InputError for a folder, or where it cannot be read.
    explicit OpenDescriptor(const std::filesystem::path& path);
    ~OpenDescriptor();
    OpenDescriptor(const OpenDescriptor&) = delete;
    OpenDescriptor& operator=(const OpenDescriptor&) = delete;

    int number() const { return number_; }

private:
    int number_ = -1;
};

}  // namespace pleat
