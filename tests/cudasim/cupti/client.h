#pragma once
// The kinds that CUPTI's client has enabled, and the callbacks to it: the tracer that the device
// calls. Any thread.

#include "tests/cudasim/core/tracer.h"

#include <cupti.h>

#include <array>
#include <atomic>
#include <map>
#include <mutex>

struct CUpti_Subscriber_st {
  CUpti_CallbackFunc function = nullptr;
  void* userdata = nullptr;
};

namespace cudasim {

class Client : public Tracer {
 public:
  static constexpr size_t kKinds = 64;
  static constexpr size_t kCallbacks = 1024;
  static constexpr size_t kDomains = 8;
  static constexpr size_t kCounters = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_COUNT;

  bool wants(uint32_t kind, CUcontext context) override;
  bool wantsCounter(uint32_t counter) override { return !configured_ || counters_[counter]; }
  bool wantsCall(uint32_t domain, uint32_t cbid) override;
  void enter(Call& call, CUcontext context) override;
  void exit(Call& call, CUcontext context) override;
  void resource(uint32_t cbid, CUcontext context, CUstream stream) override;
  void finished(const std::vector<Activity>& activities) override;
  void happened(const Activity& activity) override;
  void contextGone(uint32_t context) override;
  void processEnds() override;

  void enable(uint32_t kind, bool on);
  void enable(CUcontext context, uint32_t kind, bool on);
  // All counters are on until this is called.
  void enableCounter(uint32_t counter, bool on) {
    configured_ = true;
    counters_[counter] = on;
  }
  void enableCall(uint32_t domain, uint32_t cbid, bool on);

  // Null if there already is one.
  CUpti_SubscriberHandle subscribe(CUpti_CallbackFunc function, void* userdata);
  bool unsubscribe(CUpti_SubscriberHandle subscriber);
  bool isSubscriber(CUpti_SubscriberHandle subscriber);
  void enableCallback(uint32_t domain, uint32_t cbid, bool on) { callbacks_[domain][cbid] = on; }
  bool callbackEnabled(uint32_t domain, uint32_t cbid) const { return callbacks_[domain][cbid]; }

  std::atomic<bool> systemThreadIds{false};
  // Disables and unsubscribes everything.
  void reset();

 private:
  void callBack(Call& call, CUcontext context, CUpti_ApiCallbackSite site);
  void callBack(uint32_t domain, uint32_t cbid, const void* data);
  Activity shown(Activity activity) const;

  std::array<std::atomic<bool>, kKinds> kinds_{};
  std::array<std::atomic<bool>, kCounters> counters_{};  // of unified memory
  std::atomic<bool> configured_{false};
  std::array<std::array<std::atomic<bool>, kCallbacks>, 3> calls_{};
  std::array<std::array<std::atomic<bool>, kCallbacks>, kDomains> callbacks_{};
  std::mutex mutex_;
  std::map<std::pair<CUcontext, uint32_t>, bool> contextKinds_;  // these take precedence
  std::map<CUpti_SubscriberHandle, CUpti_Subscriber_st> subscriber_;
};

// The result without a driver of a call that enables something; CUPTI_SUCCESS with a driver.
CUptiResult driverResult();

// The one client; becomes the device's tracer at the first call.
Client& client();

// The calling thread's external correlation ids; the innermost of each kind is of its API calls.
void pushExternalId(uint32_t kind, uint64_t id);
bool popExternalId(uint32_t kind, uint64_t* id);

}  // namespace cudasim
