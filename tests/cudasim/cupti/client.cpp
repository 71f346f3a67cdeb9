#include "tests/cudasim/cupti/client.h"

#include "tests/cudasim/core/clock.h"
#include "tests/cudasim/core/device.h"
#include "tests/cudasim/core/truth.h"
#include "tests/cudasim/cupti/recorder.h"

#include <vector>

namespace cudasim {
namespace {

thread_local std::map<uint32_t, std::vector<uint64_t>> gExternalIds;

bool isCall(uint32_t kind) {
  return kind == CUPTI_ACTIVITY_KIND_RUNTIME || kind == CUPTI_ACTIVITY_KIND_DRIVER;
}

}  // namespace

Client& client() {
  static auto* instance = new Client;  // used until the process has ended
  tracer() = instance;
  return *instance;
}

bool Client::wants(uint32_t kind, CUcontext context) {
  const std::lock_guard lock(mutex_);
  const auto found = contextKinds_.find({context, kind});
  if (found != contextKinds_.end()) {
    return found->second;
  }
  return kinds_[kind] ||
         (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && kinds_[CUPTI_ACTIVITY_KIND_KERNEL]);
}

bool Client::wantsCall(uint32_t domain, uint32_t cbid) {
  return calls_[domain][cbid];
}

void Client::callBack(uint32_t domain, uint32_t cbid, const void* data) {
  if (!callbacks_[domain][cbid]) {
    return;
  }
  CUpti_Subscriber_st subscriber;
  {
    const std::lock_guard lock(mutex_);
    if (subscriber_.empty()) {
      return;
    }
    subscriber = subscriber_.begin()->second;
  }
  subscriber.function(subscriber.userdata, static_cast<CUpti_CallbackDomain>(domain), cbid, data);
}

void Client::callBack(Call& call, CUcontext context, CUpti_ApiCallbackSite site) {
  CUpti_CallbackData data{};
  data.callbackSite = site;
  data.functionName = call.name;
  data.functionParams = call.params;
  data.functionReturnValue = site == CUPTI_API_EXIT ? &call.result : nullptr;
  data.symbolName = call.symbol;
  data.context = context;
  data.contextUid = context ? context->id : 0;
  data.correlationData = &call.correlationData;
  data.correlationId = call.correlation;
  callBack(call.domain, call.cbid, &data);
}

void Client::enter(Call& call, CUcontext context) {
  callBack(call, context, CUPTI_API_ENTER);
}

void Client::exit(Call& call, CUcontext context) {
  callBack(call, context, CUPTI_API_EXIT);
}

void Client::resource(uint32_t cbid, CUcontext context, CUstream stream) {
  CUpti_ResourceData data{};
  data.context = context;
  data.resourceHandle.stream = stream;
  callBack(CUPTI_CB_DOMAIN_RESOURCE, cbid, &data);
}

// The activity as the client sees it.
Activity Client::shown(Activity activity) const {
  if (activity.kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && !kinds_[activity.kind] &&
      kinds_[CUPTI_ACTIVITY_KIND_KERNEL]) {
    activity.kind = CUPTI_ACTIVITY_KIND_KERNEL;
  }
  if (isCall(activity.kind) && !systemThreadIds) {
    activity.thread = static_cast<uint32_t>(activity.pthread);
  }
  return activity;
}

void Client::finished(const std::vector<Activity>& activities) {
  std::vector<Activity> all;
  all.reserve(activities.size());
  for (const Activity& activity : activities) {
    all.push_back(shown(activity));
  }
  recorder::queue(all);
}

void Client::happened(const Activity& activity) {
  if (isCall(activity.kind) && kinds_[CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION]) {
    for (const auto& [kind, ids] : gExternalIds) {
      Activity external;
      external.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
      external.traced = true;
      external.correlation = activity.correlation;
      external.externalKind = kind;
      external.externalId = ids.back();
      writeTruth(external);
      recorder::append(external);
    }
  }
  recorder::append(shown(activity));
}

void Client::contextGone(uint32_t context) {
  recorder::forgetContext(context);
}

void Client::processEnds() {
  recorder::forgetAll("lost-at-exit");
}

void Client::enable(uint32_t kind, bool on) {
  kinds_[kind] = on;
  if (isCall(kind)) {
    const bool driver = kind == CUPTI_ACTIVITY_KIND_DRIVER;
    for (auto& call : calls_[driver ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API]) {
      call = on;
    }
  }
}

void Client::enable(CUcontext context, uint32_t kind, bool on) {
  const std::lock_guard lock(mutex_);
  contextKinds_[{context, kind}] = on;
}

void Client::enableCall(uint32_t domain, uint32_t cbid, bool on) {
  calls_[domain][cbid] = on;
}

CUpti_SubscriberHandle Client::subscribe(CUpti_CallbackFunc function, void* userdata) {
  const std::lock_guard lock(mutex_);
  if (!subscriber_.empty()) {
    return nullptr;
  }
  auto* handle = new CUpti_Subscriber_st{function, userdata};
  subscriber_[handle] = *handle;
  return handle;
}

bool Client::isSubscriber(CUpti_SubscriberHandle subscriber) {
  const std::lock_guard lock(mutex_);
  return subscriber_.count(subscriber) > 0;
}

bool Client::unsubscribe(CUpti_SubscriberHandle subscriber) {
  const std::lock_guard lock(mutex_);
  if (!subscriber_.erase(subscriber)) {
    return false;
  }
  for (auto& domain : callbacks_) {
    for (auto& callback : domain) {
      callback = false;
    }
  }
  return true;
}

void Client::reset() {
  for (uint32_t kind = 0; kind < kKinds; ++kind) {
    enable(kind, false);
  }
  CUpti_SubscriberHandle handle = nullptr;
  {
    const std::lock_guard lock(mutex_);
    contextKinds_.clear();
    handle = subscriber_.empty() ? nullptr : subscriber_.begin()->first;
  }
  unsubscribe(handle);
  systemThreadIds = false;
}

void pushExternalId(uint32_t kind, uint64_t id) {
  gExternalIds[kind].push_back(id);
}

bool popExternalId(uint32_t kind, uint64_t* id) {
  const auto found = gExternalIds.find(kind);
  if (found == gExternalIds.end()) {
    return false;
  }
  *id = found->second.back();
  found->second.pop_back();
  if (found->second.empty()) {
    gExternalIds.erase(found);
  }
  return true;
}

}  // namespace cudasim
