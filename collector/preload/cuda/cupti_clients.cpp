#include "collector/preload/cuda/cupti_clients.h"

#include "collector/core/platform/hooks.h"
#include "collector/core/platform/symbol_versions.h"
#include "collector/core/platform/symbols.h"
#include "collector/preload/cuda/counters/cuda_counters.h"
#include "collector/preload/cuda/cuda_capture.h"
#include "collector/preload/cuda/cupti/cupti_library.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <cstring>

namespace sonde::preload::cuda {
namespace {

using cupti::Status;

// CUPTI's own function, for a call that came through a symbol of this library: the next in the
// search order, or, if CUPTI was loaded RTLD_LOCAL, that of the mapped copy.
void* behind(const char* name) noexcept {
  if (void* const next = core::libcDlsym()(RTLD_NEXT, name); next != nullptr)
    return next;
  void* const library = cupti::mappedLibrary();
  return library == nullptr ? nullptr : core::libcDlsym()(library, name);
}

// Another client wants the hardware counters. A device has only one set.
void handCountersOver(const char* function) noexcept {
  stopCounters(function);
}

// A function of CUPTI before whose call Sonde gives something up. Tools that are linked with CUPTI
// enter through the exported symbols below. Tools that found it with dlsym enter through `handed`,
// which continues to the function that they found.
template <const char* name, void (*giveUp)(const char*) noexcept, typename... Arguments>
struct Entry {
  using Function = Status (*)(Arguments...);
  static inline std::atomic<void*> found{nullptr};

  static Status handed(Arguments... arguments) {
    giveUp(name);
    return reinterpret_cast<Function>(found.load(std::memory_order_acquire))(arguments...);
  }
  static Status linked(Arguments... arguments) {
    giveUp(name);
    const auto function = reinterpret_cast<Function>(behind(name));
    return function == nullptr ? Status::NotInitialized : function(arguments...);
  }
};

constexpr char kSubscribe[] = "cuptiSubscribe";
constexpr char kSubscribe2[] = "cuptiSubscribe_v2";
constexpr char kRegister[] = "cuptiActivityRegisterCallbacks";
constexpr char kRegisterTimestamp[] = "cuptiActivityRegisterTimestampCallback";
constexpr char kEnable[] = "cuptiActivityEnable";
constexpr char kFinalize[] = "cuptiFinalize";
constexpr char kThreadIds[] = "cuptiSetThreadIdType";
constexpr char kFlushPeriod[] = "cuptiActivityFlushPeriod";
constexpr char kRangeProfiler[] = "cuptiRangeProfilerEnable";
constexpr char kProfilerSession[] = "cuptiProfilerBeginSession";
constexpr char kPmSampling[] = "cuptiPmSamplingEnable";

using Subscribe = Entry<kSubscribe, handOver, cupti::Subscriber*, cupti::Callback, void*>;
using Subscribe2 = Entry<kSubscribe2, handOver, cupti::Subscriber*, cupti::Callback, void*, void*>;
using Register = Entry<kRegister, handOver, cupti::BufferRequested, cupti::BufferCompleted>;
using RegisterTimestamp = Entry<kRegisterTimestamp, handOver, cupti::Timestamp>;
using Enable = Entry<kEnable, handOver, cupti::Kind>;
using Finalize = Entry<kFinalize, handOver>;
using ThreadIds = Entry<kThreadIds, handOver, std::uint32_t>;
using RangeProfiler = Entry<kRangeProfiler, handCountersOver, void*>;
using ProfilerSession = Entry<kProfilerSession, handCountersOver, void*>;
using PmSampling = Entry<kPmSampling, handCountersOver, void*>;
using FlushPeriod = Entry<kFlushPeriod, handOver, std::uint32_t>;

struct Known {
  const char* name;
  std::atomic<void*>* found;
  void* handed;
};

template <typename Entry>
Known known(const char* name) noexcept {
  return {name, &Entry::found, reinterpret_cast<void*>(&Entry::handed)};
}

Known knownAs(const char* wanted) noexcept {
  const Known all[] = {known<Subscribe>(kSubscribe),
                       known<Subscribe2>(kSubscribe2),
                       known<Register>(kRegister),
                       known<RegisterTimestamp>(kRegisterTimestamp),
                       known<Enable>(kEnable),
                       known<Finalize>(kFinalize),
                       known<ThreadIds>(kThreadIds),
                       known<FlushPeriod>(kFlushPeriod),
                       known<RangeProfiler>(kRangeProfiler),
                       known<ProfilerSession>(kProfilerSession),
                       known<PmSampling>(kPmSampling)};
  for (const Known& one : all) {
    if (std::strcmp(one.name, wanted) == 0)
      return one;
  }
  return {};
}

bool isOwn(void* address) noexcept {
  Dl_info own{};
  Dl_info its{};
  return dladdr(reinterpret_cast<void*>(&knownAs), &own) != 0 && dladdr(address, &its) != 0 &&
         own.dli_fbase == its.dli_fbase;
}

}  // namespace

bool handsOver(const char* name) noexcept {
  return knownAs(name).name != nullptr;
}

bool isBehind(const char* name) noexcept {
  return behind(name) != nullptr;
}

void* inFrontOf(const char* name, void* found) noexcept {
  const Known one = knownAs(name);
  if (isOwn(found))
    return isBehind(name) ? found : core::nextSymbol(name, nullptr);  // which sets dlerror
  void* first = nullptr;
  if (one.found->compare_exchange_strong(first, found) || first == found)
    return one.handed;
  handOver(name);  // a second copy of CUPTI; Sonde does not wrap it
  return found;
}

}  // namespace sonde::preload::cuda

namespace cuda = sonde::preload::cuda;
namespace cupti = sonde::preload::cupti;

SONDE_EXPORT cupti::Status cuptiSubscribe(cupti::Subscriber* subscriber,
                                          cupti::Callback callback,
                                          void* user) {
  return cuda::Subscribe::linked(subscriber, callback, user);
}

SONDE_EXPORT cupti::Status cuptiSubscribe_v2(cupti::Subscriber* subscriber,
                                             cupti::Callback callback,
                                             void* user,
                                             void* parameters) {
  return cuda::Subscribe2::linked(subscriber, callback, user, parameters);
}

SONDE_EXPORT cupti::Status cuptiActivityRegisterCallbacks(cupti::BufferRequested requested,
                                                          cupti::BufferCompleted completed) {
  return cuda::Register::linked(requested, completed);
}

SONDE_EXPORT cupti::Status cuptiActivityRegisterTimestampCallback(cupti::Timestamp timestamp) {
  return cuda::RegisterTimestamp::linked(timestamp);
}

SONDE_EXPORT cupti::Status cuptiActivityEnable(cupti::Kind kind) {
  return cuda::Enable::linked(kind);
}

SONDE_EXPORT cupti::Status cuptiFinalize() {
  return cuda::Finalize::linked();
}

SONDE_EXPORT cupti::Status cuptiSetThreadIdType(std::uint32_t type) {
  return cuda::ThreadIds::linked(type);
}

SONDE_EXPORT cupti::Status cuptiActivityFlushPeriod(std::uint32_t milliseconds) {
  return cuda::FlushPeriod::linked(milliseconds);
}

SONDE_EXPORT cupti::Status cuptiRangeProfilerEnable(void* parameters) {
  return cuda::RangeProfiler::linked(parameters);
}

SONDE_EXPORT cupti::Status cuptiProfilerBeginSession(void* parameters) {
  return cuda::ProfilerSession::linked(parameters);
}

SONDE_EXPORT cupti::Status cuptiPmSamplingEnable(void* parameters) {
  return cuda::PmSampling::linked(parameters);
}
