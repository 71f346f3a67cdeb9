#pragma once
// The device's reports to CUPTI. The CUPTI stand-in installs itself as the tracer when its client
// first calls it; the device works the same without it. Any thread may call every function. No lock
// of the device is held during the call, unless the function's comment says so.

#include "tests/cudasim/core/activity.h"

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <vector>

namespace cudasim {

// A running call of the driver's or the runtime's API.
struct Call {
  uint32_t domain = 0;  // CUpti_CallbackDomain
  uint32_t cbid = 0;
  const char* name = nullptr;
  const void* params =
      nullptr;  // generated_cuda_meta.h, generated_cuda_runtime_api_meta.h; null without parameters
  const char* symbol = nullptr;  // the kernel's name, for launches
  uint32_t correlation = 0;
  bool traced = false;  // CUPTI must deliver a record of it
  uint64_t start = 0;   // ticks
  uint32_t result = 0;
  uint64_t correlationData = 0;  // set by the callbacks
};

class Tracer {
 public:
  virtual ~Tracer() = default;
  // Whether a record is required for an activity that begins now; the device's lock is held.
  virtual bool wants(uint32_t kind, CUcontext context) = 0;
  virtual bool wantsCounter(uint32_t counter) = 0;  // for unified memory
  virtual bool wantsCall(uint32_t domain, uint32_t cbid) = 0;
  virtual void enter(Call& call, CUcontext context) = 0;
  virtual void exit(Call& call, CUcontext context) = 0;
  virtual void resource(uint32_t cbid, CUcontext context, CUstream stream) = 0;
  // Work that devices have finished, for delivery when CUPTI next looks for it.
  virtual void finished(const std::vector<Activity>& activities) = 0;
  // An event on the host just now.
  virtual void happened(const Activity& activity) = 0;
  // The context is gone, with everything that CUPTI has not looked for.
  virtual void contextGone(uint32_t context) = 0;
  virtual void processEnds() = 0;
};

// Null while no client has used CUPTI.
std::atomic<Tracer*>& tracer();

}  // namespace cudasim
