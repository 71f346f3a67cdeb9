// Looking symbols up past this library's own.
#pragma once

namespace sonde::core {

// libc's dlsym. This library exports one of its own, which the process' other libraries and it
// itself would find. Not for RTLD_NEXT.
void* realDlsym(void* handle, const char* name) noexcept;

// Its address.
void* addressOfDlsym() noexcept;

}  // namespace sonde::core
