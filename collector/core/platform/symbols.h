// Looks up symbols behind this library's own.
#pragma once

namespace sonde::core {

using DlsymCall = void* (*)(void* handle, const char* name);

// libc's dlsym. This library exports a dlsym of its own, which an ordinary lookup would find.
DlsymCall libcDlsym() noexcept;

// The dlsym behind this library's (libc's or another interposer's), for calls by the process.
DlsymCall nextDlsym() noexcept;

}  // namespace sonde::core
