#pragma once
// An API call as CUPTI sees it: callbacks, correlation id, record. One in another has the other's
// correlation. Calls that the runtime stand-in makes to the device are no driver calls, so DRIVER
// records are only of calls that the program itself made, and with CUDASIM_NESTED_CALLS of launches
// of kernels.

#include "tests/cudasim/core/tracer.h"

#include <utility>

namespace cudasim {

// The calling thread's innermost call; null outside.
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

// Runs `body` as the API function of that callback id and returns what it returns.
template <class Status, class Body>
Status apiCall(Call call, Body body) {
  const CallScope scope(call);
  constexpr auto kFailed =
      static_cast<Status>(999);  // an unknown error, of the driver as of the runtime
  const Status status = failsAsTold(call) ? kFailed : static_cast<Status>(body());
  call.result = static_cast<uint32_t>(status);
  return status;
}

}  // namespace cudasim
