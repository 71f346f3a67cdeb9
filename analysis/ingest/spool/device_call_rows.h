// Makes the rows of CUPTI's records that are not device work: calls, marks of managed memory, the
// ids that the program gave to its calls. Passes device work and memory on to their rows.
//
// Part of one ImageBuilder, on its thread.
#pragma once

#include "analysis/ingest/spool/device_rows.h"
#include "analysis/ingest/spool/image_context.h"
#include "analysis/ingest/spool/memory_rows.h"
#include "analysis/ingest/spool/thread_rows.h"
#include "collector/wire/device_records.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sonde::ingest {

class DeviceCallRows {
 public:
  // All must outlive it.
  DeviceCallRows(ImageContext& image, ThreadRows& threads, DeviceRows& devices, MemoryRows& memory)
      : image_(image), threads_(threads), devices_(devices), memory_(memory) {}

  // Handlers of records. onWork(): of a Kernel, DeviceCopy or DeviceSync.
  void onDeviceCall(ImageThread& thread, const std::byte* at);
  template <typename Record>
  void onWork(ImageThread& thread, const std::byte* at);
  void onMemory(ImageThread& thread, const std::byte* at);
  void onMetric(ImageThread& thread, const std::byte* at);

  // `key`: of the state kExternalIds.
  void restoreExternalId(std::int64_t key) noexcept { nextExternal_ = key + 1; }

 private:
  void addMemoryMark(const wire::DeviceMemory& record, std::string_view name);
  void addExternalId(const wire::DeviceCall& record);

  ImageContext& image_;
  ThreadRows& threads_;
  DeviceRows& devices_;
  MemoryRows& memory_;
  std::int64_t nextExternal_ = 0;
};

}  // namespace sonde::ingest
