// Finds the rows of devices in a file whose events have no category, by the names of processes and
// threads in files of XLA (JAX, TensorFlow), Ascend's profiler and PyTorch without Kineto.
//
// Names must come before their events. Owned by one importer, on one thread.
#pragma once

#include "analysis/ingest/import/event_fields.h"
#include "analysis/ingest/import/event_kinds.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

namespace sonde::ingest {

struct DeviceRow {
  // Repeats: repeats or sums up the events of streams.
  enum class Use : std::uint8_t { Work, Repeats };
  Use use = Use::Work;
  std::int64_t device = 0;
  std::int64_t stream = 0;
};

class DeviceRowNames {
 public:
  void nameProcess(const Label& pid, std::string_view name);
  void nameThread(const Label& pid, const Label& tid, std::string_view name);

  // nullptr: not a device's row. Valid until the next call.
  const DeviceRow* find(const Label& pid, const Label& tid);

  // Devices with work: their numbers and kinds.
  const std::map<std::int64_t, std::string>& devices() const noexcept { return devices_; }
  // The names of repeating rows that had events.
  const std::set<std::string>& repeating() const noexcept { return repeating_; }
  // The number of rows that were named after find() had looked for them.
  std::uint64_t lateNames() const noexcept { return lateNames_; }

 private:
  enum class Tool : std::uint8_t { Xla, Ascend, PyTorch };
  struct Device {
    Tool tool = Tool::Xla;
    std::string kind;
    std::int64_t ordinal = 0;
    bool hasStreams = false;  // threads with such names
  };

  static std::optional<Device> deviceOf(std::string_view name);
  static std::optional<std::int64_t> streamOf(std::string_view threadName) noexcept;
  DeviceRow rowOf(const Device& device, const std::string& key, const Label& tid);

  std::unordered_map<std::string, Device> processes_;     // devices, by label
  std::unordered_map<std::string, std::string> threads_;  // names by labels
  std::unordered_map<std::string, DeviceRow> rows_;       // those already looked up
  std::unordered_map<std::string, bool> isDevice_;        // processes already looked up
  std::map<std::int64_t, std::string> devices_;
  std::set<std::string> repeating_;
  std::uint64_t lateNames_ = 0;
  std::string key_;  // of the last row
  const DeviceRow* last_ = nullptr;
};

// The table for an event of a device's row: copy, wait or kernel, by its name and Ascend's type.
EventTable deviceTableOf(std::string_view name, std::string_view taskType) noexcept;

// The 4096 of XLA's "kind_src:device kind_dst:pageable size:4096 dest:0 async:1".
OptionalNumber copyBytesOf(std::string_view details) noexcept;

}  // namespace sonde::ingest
