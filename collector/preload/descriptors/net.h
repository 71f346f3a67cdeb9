// The `net` probe: TCP connections, UNIX streams and pipes as channels, and what calls move through
// them as transfers. It is a handler of descriptor kinds (fd_calls.h); any thread.
#pragma once

namespace sonde::preload {

// Registers the handlers. Before the table of descriptors is started.
void startNet() noexcept;

}  // namespace sonde::preload
