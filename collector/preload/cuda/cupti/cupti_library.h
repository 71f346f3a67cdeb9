// CUPTI in this process: the library and its functions.
#pragma once

#include "collector/preload/cuda/cupti/cupti_abi.h"

namespace sonde::preload::cupti {

struct Api {
  Status (*getVersion)(std::uint32_t* version);
  Status (*getResultString)(Status status, const char** text);
  Status (*getCallbackName)(Domain domain, std::uint32_t cbid, const char** name);
  Status (*subscribe)(Subscriber* subscriber, Callback callback, void* user);
  Status (*unsubscribe)(Subscriber subscriber);
  Status (*enableCallback)(std::uint32_t enable,
                           Subscriber subscriber,
                           Domain domain,
                           std::uint32_t cbid);
  Status (*enableDomain)(std::uint32_t enable, Subscriber subscriber, Domain domain);
  Status (*registerCallbacks)(BufferRequested requested, BufferCompleted completed);
  Status (*registerTimestampCallback)(Timestamp timestamp);
  Status (*setThreadIdType)(std::uint32_t type);
  Status (*enable)(Kind kind);
  Status (*disable)(Kind kind);
  Status (*enableRuntimeApi)(std::uint32_t cbid, std::uint8_t enable);
  Status (*enableDriverApi)(std::uint32_t cbid, std::uint8_t enable);
  Status (*flushAll)(std::uint32_t flags);
  Status (*flushPeriod)(std::uint32_t milliseconds);
  Status (*getNextRecord)(std::uint8_t* buffer, std::size_t valid, Record** record);
  Status (*getDroppedRecords)(void* context, std::uint32_t stream, std::size_t* dropped);
  // nullptr: this CUPTI lacks it.
  Status (*configureUnifiedMemory)(UnifiedMemoryConfig* config, std::uint32_t count);
};

// Opens the newest CUPTI that the driver can serve and keeps it loaded. Takes the mapped copy, or
// looks next to the mapped CUDA runtime, in its wheel, in the toolkit, or where the loader finds
// one. nullptr: none found.
void* openLibrary() noexcept;
// The mapped copy; nullptr: none is mapped.
void* mappedLibrary() noexcept;

// False: the library lacks one of the functions; `missing` is then its name.
bool bind(void* library, Api& api, const char*& missing) noexcept;
// The file of this library.
const char* pathOf(const Api& api) noexcept;

}  // namespace sonde::preload::cupti
