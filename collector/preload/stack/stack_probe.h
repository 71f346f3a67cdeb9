// The `stack` probe's share of this library.
#pragma once

namespace sonde::preload {

// The calling thread is the only one of a child that has just been forked.
void childHasBegun() noexcept;
// The process ends, or becomes another program.
void noteCodeAtEnd() noexcept;
// No thread is interrupted any more.
void stopStacks() noexcept;

}  // namespace sonde::preload
