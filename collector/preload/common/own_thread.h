// A thread of Sonde's own in the job. It is begun only where an option asks for it.
#pragma once

namespace sonde::preload {

// Detached, and called `name`, in the trace, too. False: there is none to be had.
bool beginThread(const char* name, void (*body)(void*) noexcept, void* argument) noexcept;

}  // namespace sonde::preload
