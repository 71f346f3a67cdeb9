// The members of a communicator, from this process's environment. Stateless; any thread.
#pragma once

#include <cstdint>

namespace sonde::preload {

// The ranks in the job of a communicator's `size` members, in order, -1 if unknown. If the
// communicator is the whole job, all ranks are known, else only that of this process, which is
// member `position`. `members` has room for `size`.
void jobMembers(int position, int size, std::int32_t* members) noexcept;

}  // namespace sonde::preload
