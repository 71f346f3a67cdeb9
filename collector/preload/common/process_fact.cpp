#include "collector/preload/common/process_fact.h"

#include "collector/core/emit.h"

#include <cstdarg>
#include <cstdio>

namespace sonde::preload {

void sayFact(const char* key, const char* format, ...) noexcept {
  char text[256];
  va_list values;
  va_start(values, format);
  std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  core::emitProcessText(core::intern(key), core::intern(text));
}

}  // namespace sonde::preload
