// Kernels without code, and the other functions of cudasim.h.
#include "tests/cudasim/core/clock.h"
#include "tests/cudasim/core/truth.h"
#include "tests/cudasim/core/world.h"
#include "tests/cudasim/cudasim.h"

#include <cupti.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

namespace cudasim {
namespace {

std::map<std::string, CUfunc_st*>& kernels() {
  static auto* all = new std::map<std::string, CUfunc_st*>;
  return *all;
}

thread_local uint64_t gCompileNs = 0;  // at the next launch

}  // namespace

void compileIfAsked() {
  if (gCompileNs > 0) {
    cudasimCompile(std::exchange(gCompileNs, 0));
  }
}

}  // namespace cudasim

using cudasim::world;

CUfunction cudasimFunction(const char* mangledName, uint64_t durationNs) {
  const std::lock_guard lock(world().mutex);
  CUfunction& kernel = cudasim::kernels()[mangledName];
  if (!kernel) {
    kernel = new CUfunc_st{mangledName, durationNs};
  }
  kernel->durationNs = durationNs;
  return kernel;
}

const void* cudasimKernel(const char* mangledName, uint64_t durationNs) {
  return cudasimFunction(mangledName, durationNs);
}

const void* cudasimHeldKernel(const char* mangledName) {
  return cudasimFunction(mangledName, cudasim::kHeldNs);
}

void cudasimRelease(void) {
  cudasim::releaseHeld();
}

void cudasimUnload(const void* kernel) {
  const std::lock_guard lock(world().mutex);
  auto* function = static_cast<CUfunction>(const_cast<void*>(kernel));
  cudasim::kernels().erase(function->name);
  std::fill(function->name.begin(),
            function->name.end(),
            '?');  // not freed, so that a late reader does not crash
}

void cudasimCompileAtLaunch(uint64_t durationNs) {
  cudasim::gCompileNs = durationNs;
}

void cudasimCompile(uint64_t durationNs) {
  cudasim::Activity activity;
  activity.kind = CUPTI_ACTIVITY_KIND_JIT;
  activity.thread = static_cast<uint32_t>(gettid());
  activity.type = CUPTI_ACTIVITY_JIT_OPERATION_COMPILE;
  const uint64_t begin = cudasim::nowNs();
  cudasim::sleepUntil(begin + durationNs);
  cudasim::happenedOnHost(cudasim::runtimeContext(), activity, begin, cudasim::nowNs());
}

void cudasimFlushTruth(void) {
  cudasim::retire();
  cudasim::flushTruth();
}
