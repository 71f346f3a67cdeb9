// A thread of Sonde's own in the job. It is started only if an option requests it.
#pragma once

namespace sonde::preload {

// Starts a detached thread with this name, also in the trace. False: no thread could be created.
bool beginThread(const char* name, void (*body)(void*) noexcept, void* argument) noexcept;

}  // namespace sonde::preload
