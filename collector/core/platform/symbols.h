// Looking symbols up past this library's own.
#pragma once

namespace sonde::core {

using DlsymCall = void* (*)(void* handle, const char* name);

// libc's dlsym, for this library: it exports one of its own, which it would find itself.
DlsymCall libcDlsym() noexcept;

// The one behind this library's, libc's or another interposer's, for the process' calls.
DlsymCall nextDlsym() noexcept;

}  // namespace sonde::core
