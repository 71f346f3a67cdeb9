// Who is in a communicator, as far as this process's environment tells. Stateless; any thread.
#pragma once

#include <cstdint>

namespace sonde::preload {

// The ranks in the job of a communicator's `size` members in order, -1 where unknown: all are known
// when it is the whole job, else that of this process, which is member `position`. `members` has
// room for `size`.
void jobMembers(int position, int size, std::int32_t* members) noexcept;

}  // namespace sonde::preload
