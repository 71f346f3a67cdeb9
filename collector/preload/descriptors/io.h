// Probe `io`: calls on regular files. The wrappers in fd_calls*.cpp report to it.
#pragma once

namespace sonde::preload {

// From now on files are recorded. Call it before the descriptor table is started.
void startIo() noexcept;

}  // namespace sonde::preload
