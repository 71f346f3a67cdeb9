// CUPTI's callback API, versions, names and the end.
#include "tests/cudasim/core/clock.h"
#include "tests/cudasim/core/device.h"
#include "tests/cudasim/cupti/client.h"
#include "tests/cudasim/cupti/profiler.h"
#include "tests/cudasim/cupti/recorder.h"

#include <cstdlib>
#include <map>
#include <string>

using namespace cudasim;

namespace {

#if CUDASIM_CUDA_MAJOR >= 13
constexpr uint32_t kVersion = 130001;
#else
constexpr uint32_t kVersion = 24;  // CUDA 12.6
#endif

using Names = std::map<uint32_t, std::string>;

const Names& driverNames() {
  static const auto* names = new Names{
#include "driver_names.inc"
  };
  return *names;
}

const Names& runtimeNames() {
  static const auto* names = new Names{
#include "runtime_names.inc"
  };
  return *names;
}

const Names& resultNames() {
  static const auto* names = new Names{
#include "result_names.inc"
  };
  return *names;
}

CUptiResult check(CUpti_SubscriberHandle subscriber, uint32_t domain, uint32_t cbid) {
  const bool valid = client().isSubscriber(subscriber) && domain > 0 && domain < Client::kDomains &&
                     cbid < Client::kCallbacks;
  return valid ? driverResult() : CUPTI_ERROR_INVALID_PARAMETER;
}

void enableAll(uint32_t domain, bool on) {
  for (uint32_t cbid = 0; cbid < Client::kCallbacks; ++cbid) {
    client().enableCallback(domain, cbid, on);
  }
}

CUpti_CallbackDomain gDomains[] = {
    CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_RESOURCE};

}  // namespace

extern "C" {

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber,
                           CUpti_CallbackFunc callback,
                           void* userdata) {
  if (!subscriber) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  if (!driverPresent()) {
    return driverResult();
  }
  const CUpti_SubscriberHandle handle = client().subscribe(callback, userdata);
  if (!handle) {
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  }
  *subscriber = handle;
  return CUPTI_SUCCESS;
}

#if CUDASIM_CUDA_MAJOR >= 13
CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle* subscriber,
                              CUpti_CallbackFunc callback,
                              void* userdata,
                              CUpti_SubscriberParams* params) {
  if (params && params->structSize == 0) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  return cuptiSubscribe(subscriber, callback, userdata);
}
#endif

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber) {
  return client().unsubscribe(subscriber) ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiSupportedDomains(size_t* domainCount, CUpti_DomainTable* domainTable) {
  *domainCount = std::size(gDomains);
  *domainTable = gDomains;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCallbackState(uint32_t* enable,
                                  CUpti_SubscriberHandle subscriber,
                                  CUpti_CallbackDomain domain,
                                  CUpti_CallbackId cbid) {
  const CUptiResult result = check(subscriber, domain, cbid);
  if (result == CUPTI_SUCCESS) {
    *enable = client().callbackEnabled(domain, cbid);
  }
  return result;
}

CUptiResult cuptiEnableCallback(uint32_t enable,
                                CUpti_SubscriberHandle subscriber,
                                CUpti_CallbackDomain domain,
                                CUpti_CallbackId cbid) {
  const CUptiResult result = check(subscriber, domain, cbid);
  if (result == CUPTI_SUCCESS) {
    client().enableCallback(domain, cbid, enable != 0);
  }
  return result;
}

CUptiResult cuptiEnableDomain(uint32_t enable,
                              CUpti_SubscriberHandle subscriber,
                              CUpti_CallbackDomain domain) {
  const CUptiResult result = check(subscriber, domain, 0);
  if (result == CUPTI_SUCCESS) {
    enableAll(domain, enable != 0);
  }
  return result;
}

CUptiResult cuptiEnableAllDomains(uint32_t enable, CUpti_SubscriberHandle subscriber) {
  const CUptiResult result = check(subscriber, CUPTI_CB_DOMAIN_DRIVER_API, 0);
  if (result == CUPTI_SUCCESS) {
    for (uint32_t domain = 1; domain < CUPTI_CB_DOMAIN_SIZE; ++domain) {
      enableAll(domain, enable != 0);
    }
  }
  return result;
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid, const char** name) {
  if (!name || (domain != CUPTI_CB_DOMAIN_DRIVER_API && domain != CUPTI_CB_DOMAIN_RUNTIME_API)) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  const Names& names = domain == CUPTI_CB_DOMAIN_DRIVER_API ? driverNames() : runtimeNames();
  const auto found = names.find(cbid);
  if (found == names.end()) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  *name = found->second.c_str();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char** str) {
  if (!str) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  const auto found = resultNames().find(result);
  if (result != CUPTI_SUCCESS && found == resultNames().end()) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  *str = result == CUPTI_SUCCESS ? "CUPTI_SUCCESS" : found->second.c_str();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetErrorMessage(CUptiResult result, const char** str) {
  return cuptiGetResultString(result, str);
}

CUptiResult cuptiGetLastError(void) {
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetVersion(uint32_t* version) {
  if (!version) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  const char* text = std::getenv("CUDASIM_CUPTI_VERSION");
  *version = text ? static_cast<uint32_t>(std::strtoul(text, nullptr, 10)) : kVersion;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiFinalize(void) {
  client().reset();
  disableRangeProfilers();
  tracer() = nullptr;
  recorder::forgetAll("lost-at-finalize");
  retire();
  setTickSource(nullptr);
  return CUPTI_SUCCESS;
}

}  // extern "C"
