// Waiting for child processes.

#include "collector/core/platform/hooks.h"
#include "collector/preload/sync/interposer/pausing.h"

#include <sys/resource.h>
#include <sys/wait.h>

namespace sonde::preload::sync {
namespace {

using core::Real;

using WaitAny = pid_t (*)(int*);
using WaitPid = pid_t (*)(pid_t, int*, int);
using WaitId = int (*)(idtype_t, id_t, siginfo_t*, int);
using Wait3 = pid_t (*)(int*, int, rusage*);
using Wait4 = pid_t (*)(pid_t, int*, int, rusage*);

constinit Real<WaitAny> gWaitAny{"wait"};
constinit Real<WaitPid> gWaitPid{"waitpid"};
constinit Real<WaitId> gWaitId{"waitid"};
constinit Real<Wait3> gWait3{"wait3"};
constinit Real<Wait4> gWait4{"wait4"};

__attribute__((constructor(102))) void resolve() {
  gWaitAny();
  gWaitPid();
  gWaitId();
  gWait3();
  gWait4();
}

}  // namespace
}  // namespace sonde::preload::sync

using namespace sonde::preload::sync;

SONDE_EXPORT pid_t wait(int* status) {
  return pausing("wait", [=] { return gWaitAny()(status); });
}

SONDE_EXPORT pid_t waitpid(pid_t pid, int* status, int options) {
  return pausing("waitpid", [=] { return gWaitPid()(pid, status, options); });
}

SONDE_EXPORT int waitid(idtype_t type, id_t id, siginfo_t* info, int options) {
  return pausing("waitid", [=] { return gWaitId()(type, id, info, options); });
}

SONDE_EXPORT pid_t wait3(int* status, int options, rusage* usage) noexcept {
  return pausing("wait3", [=] { return gWait3()(status, options, usage); });
}

SONDE_EXPORT pid_t wait4(pid_t pid, int* status, int options, rusage* usage) noexcept {
  return pausing("wait4", [=] { return gWait4()(pid, status, options, usage); });
}
