#pragma once
// An API call from CUPTI's view: callbacks, correlation id, record. A nested call has the outer
// call's correlation. The runtime stand-in's calls to the device are not driver calls. So DRIVER
// records exist only for calls that the program itself made and, with CUDASIM_NESTED_CALLS, for
// launches of kernels.

#include "tests/cudasim/core/tracer.h"

#include <utility>

namespace cudasim {

// The calling thread's innermost call; null outside of calls.
Call* currentCall();
uint32_t currentCorrelation();  // 0 outside

bool failsAsTold(const Call& call);

class CallScope {
 public:
  explicit CallScope(Call& call);
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

 private:
  Call& call_;
  Call* outer_;
};

// Runs `body` as the API function with that callback id and returns its result.
template <class Status, class Body>
Status apiCall(Call call, Body body) {
  const CallScope scope(call);
  constexpr auto kFailed =
      static_cast<Status>(999);  // the unknown error of both driver and runtime
  const Status status = failsAsTold(call) ? kFailed : static_cast<Status>(body());
  call.result = static_cast<uint32_t>(status);
  return status;
}

}  // namespace cudasim
