// The `net` probe: records TCP connections, UNIX streams and pipes as channels, and calls on them
// as transfers. It is a handler of descriptor kinds (fd_calls.h); any thread.
#pragma once

namespace sonde::preload {

// Registers the handlers. Call it before the descriptor table is started.
void startNet() noexcept;

}  // namespace sonde::preload
