#pragma once
// A small client of CUPTI for tests: finds whatever libcupti the process can load, and keeps every
// record that it gets, as JSON. One per process; any thread.

#include <cupti.h>

#include <vector>

#include <nlohmann/json.hpp>

namespace cudasim_client {

// clang-format off
#define CUDASIM_CUPTI_FUNCTIONS(X) \
  X(ActivityEnable) X(ActivityDisable) X(ActivityEnableContext) X(ActivityDisableContext) \
  X(ActivityEnableAndDump) X(ActivityEnableDriverApi) X(ActivityEnableRuntimeApi) \
  X(ActivityRegisterCallbacks) X(ActivityFlushAll) X(ActivityFlushPeriod) \
  X(ActivityGetNextRecord) X(ActivityGetNumDroppedRecords) X(ActivityGetAttribute) \
  X(ActivitySetAttribute) X(ActivityRegisterTimestampCallback) \
  X(ActivityPushExternalCorrelationId) X(ActivityPopExternalCorrelationId) X(SetThreadIdType) \
  X(GetTimestamp) X(GetVersion) X(GetResultString) X(GetCallbackName) X(Subscribe) \
  X(Unsubscribe) X(EnableCallback) X(EnableDomain) X(EnableAllDomains) X(GetStreamId) \
  X(GetContextId) X(Finalize)
// clang-format on

// The functions of the libcupti that was found: a member's name is the function's without `cupti`.
struct Cupti {
#define CUDASIM_DECLARE(name) decltype(&cupti##name) name = nullptr;
  CUDASIM_CUPTI_FUNCTIONS(CUDASIM_DECLARE)
#undef CUDASIM_DECLARE
  uint32_t version = 0;
};

// Loads libcupti.so.12 or, if `major` is 13, libcupti.so.13. Ends the process if it or a function
// is missing.
const Cupti& load(int major);

// Registers the client's buffers, of `size` bytes; 0: the client refuses to provide any.
void listen(size_t size);
void setBufferSize(size_t size);

// Returns the records so far and their number of buffers, and forgets them.
std::vector<nlohmann::json> takeRecords();
size_t takeBuffers();

}  // namespace cudasim_client
