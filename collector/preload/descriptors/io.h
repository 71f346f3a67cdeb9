// Probe `io`: calls on regular files. The wrappers in fd_calls*.cpp bring them here.
#pragma once

namespace sonde::preload {

// Files are recorded from now on. Before the table of descriptors is started.
void startIo() noexcept;

}  // namespace sonde::preload
