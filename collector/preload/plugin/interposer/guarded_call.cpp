// The only file of Sonde in the job that catches exceptions. It is compiled with exceptions, but
// the library is not linked with a C++ runtime. Otherwise that runtime would get into C programs,
// and come before the one of a conda Python. The runtime's symbols are weak references. They are
// bound whenever they are needed, because a plugin that throws has a runtime.

#include "collector/preload/plugin/interposer/guarded_call.h"

#include <cxxabi.h>
#include <errno.h>

#include <exception>

__asm__(
    ".weak __gxx_personality_v0\n"
    ".weak __cxa_begin_catch\n"
    ".weak __cxa_end_catch\n"
    ".weak __cxa_rethrow\n"
    ".weak _Unwind_Resume\n"
    ".weak _ZTISt9exception\n"
    ".weak _ZTIN10__cxxabiv115__forced_unwindE\n");

namespace sonde::preload::plugin {

Thrown guardedCall(void (*call)(void*), void* argument) {
  const int savedErrno = errno;
  Thrown thrown;
  try {
    call(argument);
  } catch (abi::__forced_unwind&) {
    throw;
  } catch (const std::exception& exception) {
    thrown.any = true;
    const char* const what = exception.what();
    for (std::size_t at = 0; what != nullptr && what[at] != '\0' && at + 1 < sizeof thrown.what;
         ++at)
      thrown.what[at] = what[at];
  } catch (...) {
    thrown.any = true;
  }
  errno = savedErrno;
  return thrown;
}

}  // namespace sonde::preload::plugin
