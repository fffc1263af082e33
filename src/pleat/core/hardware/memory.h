// Memory: how much this process may still take, and refusing in time with advice.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pleat {

/// Bytes that can be taken without swapping: the least of the machine's available memory, what its
/// control group leaves, and what the limit on address space leaves.
std::int64_t available_memory();

/// The largest resident size of this process so far, in bytes.
std::int64_t peak_memory();

/// Makes blocks of a megabyte and more go back to the system as soon as they are freed, instead of
/// being kept for later: what one job frees is there for another on any thread. For programs that
/// run many large jobs; call it before there are threads.
void return_freed_memory();

/// "512 B", "3.1 GiB": three digits at the most before the unit is the next.
std::string human_bytes(std::int64_t bytes);

/// Throws DeviceError when `needed` bytes for `what` ("the couplings of 2000 columns") exceed what
/// is available, in this process or as given for another place (" on cuda:0"); the text says
/// needed, available and `advice` ("up to 1200 columns would fit").
void require_memory(std::int64_t needed, std::string_view what, std::string_view advice,
                    std::int64_t available = available_memory(), std::string_view place = "");

}  // namespace pleat
