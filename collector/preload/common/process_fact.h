// Reports about a probe in the trace, as facts of the process.
#pragma once

namespace sonde::preload {

// `sonde sql TRACE "SELECT value FROM v_arg WHERE key = 'KEY'"`. Longer texts are cut at 255 bytes.
__attribute__((format(printf, 2, 3))) void sayFact(const char* key,
                                                   const char* format,
                                                   ...) noexcept;

}  // namespace sonde::preload
