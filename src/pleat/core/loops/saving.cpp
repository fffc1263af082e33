// Saving: the room on a disk, and the words of a refusal.
#include "pleat/core/loops/saving.h"

#include <fmt/format.h>

#include <string>
#include <system_error>

#include "pleat/core/hardware/memory.h"

namespace pleat {

void require_room(const std::filesystem::path& path, std::int64_t bytes) {
    std::error_code unknown;
    const auto room =
        std::filesystem::space(std::filesystem::absolute(path).parent_path(), unknown);
    if (unknown || static_cast<std::int64_t>(room.available) >= bytes) return;
    throw OutputError(fmt::format("{}: expected {} of free space, found {}", path.string(),
                                  human_bytes(bytes),
                                  human_bytes(static_cast<std::int64_t>(room.available))));
}

std::string refusal(const std::filesystem::path& path, const InputError& error) {
    const std::string name = path.string(), text = error.what();
    return fmt::format("{}{}; remove this checkpoint, or give --force, to start again",
                       text.starts_with(name) ? "" : name + ": ", text);
}

}  // namespace pleat
