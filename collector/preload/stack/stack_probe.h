// The part of the `stack` probe in this library.
#pragma once

namespace sonde::preload {

// The calling thread is the only one in a child that has just been forked.
void childHasBegun() noexcept;
// The process ends, or becomes another program.
void noteCodeAtEnd() noexcept;
// Stops interrupting threads.
void stopStacks() noexcept;

}  // namespace sonde::preload
