#include "collector/preload/probes/cupti_clients.h"

#include "collector/core/hooks.h"
#include "collector/core/symbols.h"
#include "collector/preload/probes/cuda_capture.h"
#include "collector/preload/probes/cupti_library.h"

#include <atomic>
#include <cstring>

namespace sonde::preload::cuda {
namespace {

using cupti::Status;

// A function of CUPTI. Tools that are linked with CUPTI come by the exported symbols below, others,
// which have looked it up with dlsym, by `handed`: it goes on to the very one that they found.
template <const char* name, typename... Arguments>
struct Entry {
  using Function = Status (*)(Arguments...);
  static inline std::atomic<void*> found{nullptr};

  static Status handed(Arguments... arguments) {
    handOver(name);
    return reinterpret_cast<Function>(found.load(std::memory_order_acquire))(arguments...);
  }
  static Status linked(Arguments... arguments) {
    static constinit core::Real<Function> next{name};
    handOver(name);
    Function function = next();
    if (function == nullptr) {
      if (void* const library = cupti::mappedLibrary(); library != nullptr)
        function = reinterpret_cast<Function>(core::realDlsym(library, name));
    }
    return function == nullptr ? Status::NotInitialized : function(arguments...);
  }
};

constexpr char kSubscribe[] = "cuptiSubscribe";
constexpr char kSubscribe2[] = "cuptiSubscribe_v2";
constexpr char kRegister[] = "cuptiActivityRegisterCallbacks";
constexpr char kRegisterTimestamp[] = "cuptiActivityRegisterTimestampCallback";
constexpr char kEnable[] = "cuptiActivityEnable";
constexpr char kFinalize[] = "cuptiFinalize";

using Subscribe = Entry<kSubscribe, cupti::Subscriber*, cupti::Callback, void*>;
using Subscribe2 = Entry<kSubscribe2, cupti::Subscriber*, cupti::Callback, void*, void*>;
using Register = Entry<kRegister, cupti::BufferRequested, cupti::BufferCompleted>;
using RegisterTimestamp = Entry<kRegisterTimestamp, cupti::Timestamp>;
using Enable = Entry<kEnable, cupti::Kind>;
using Finalize = Entry<kFinalize>;

template <typename Entry>
bool isInFront(const char* wanted, const char* name, void*& found) noexcept {
  if (std::strcmp(wanted, name) != 0)
    return false;
  Entry::found.store(found, std::memory_order_release);
  found = reinterpret_cast<void*>(&Entry::handed);
  return true;
}

}  // namespace

void* inFrontOf(const char* name, void* found) noexcept {
  static_cast<void>(isInFront<Subscribe>(name, kSubscribe, found) ||
                    isInFront<Subscribe2>(name, kSubscribe2, found) ||
                    isInFront<Register>(name, kRegister, found) ||
                    isInFront<RegisterTimestamp>(name, kRegisterTimestamp, found) ||
                    isInFront<Enable>(name, kEnable, found) ||
                    isInFront<Finalize>(name, kFinalize, found));
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
