#include "tests/cudasim/core/call.h"

#include "tests/cudasim/core/clock.h"
#include "tests/cudasim/core/device.h"
#include "tests/cudasim/core/truth.h"

#include <cupti.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace cudasim {
namespace {

thread_local Call* gCurrent = nullptr;
std::atomic<uint32_t> gCorrelation{[] {
  const char* first = std::getenv("CUDASIM_CORRELATION");
  return first ? static_cast<uint32_t>(std::strtoul(first, nullptr, 10)) : 0;
}()};

uint32_t nextCorrelation() {
  const uint32_t next = ++gCorrelation;
  return next ? next : ++gCorrelation;
}

Activity record(const Call& call) {
  const CUcontext context = currentContext();
  Activity a;
  a.kind = call.domain == CUPTI_CB_DOMAIN_DRIVER_API ? CUPTI_ACTIVITY_KIND_DRIVER
                                                     : CUPTI_ACTIVITY_KIND_RUNTIME;
  a.traced = call.traced;
  a.name = call.name;
  a.context = context ? context->id : 0;
  a.correlation = call.correlation;
  a.start = call.start;
  a.end = ticksNow();
  a.cbid = call.cbid;
  a.thread = static_cast<uint32_t>(gettid());
  a.pthread = static_cast<uint64_t>(pthread_self());
  a.result = call.result;
  return a;
}

// CUDASIM_HANG=NAME.
void hangIfTold(const Call& call) {
  static const char* name = std::getenv("CUDASIM_HANG");
  while (name && std::strcmp(name, call.name) == 0) {
    pause();
  }
}

}  // namespace

Call* currentCall() {
  return gCurrent;
}

uint32_t currentCorrelation() {
  return gCurrent ? gCurrent->correlation : 0;
}

bool failsAsTold(const Call& call) {
  static const char* name = std::getenv("CUDASIM_FAIL");
  return name && std::strcmp(name, call.name) == 0;
}

CallScope::CallScope(Call& call) : call_(call), outer_(gCurrent) {
  call_.correlation = gCurrent ? gCurrent->correlation : nextCorrelation();
  gCurrent = &call_;
  call_.start = ticksNow();
  hangIfTold(call_);
  if (Tracer* client = tracer()) {
    call_.traced = client->wantsCall(call_.domain, call_.cbid);
    client->enter(call_, currentContext());
  }
}

CallScope::~CallScope() {
  const Activity done = record(call_);
  Tracer* client = tracer();
  if (client) {
    client->exit(call_, currentContext());
  }
  writeTruth(done);
  if (client && call_.traced) {
    client->happened(done);
  }
  gCurrent = outer_;
}

}  // namespace cudasim
