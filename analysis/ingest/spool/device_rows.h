// Makes rows of a process's device work: kernels, copies, synchronisation. Records come late and
// unordered. device_calls.h finds launches, and the places of calls among their threads' slices,
// when all are there.
//
// Part of one ImageBuilder, on its thread.
#pragma once

#include "analysis/ingest/rows/clock_fit.h"
#include "analysis/ingest/rows/dictionary.h"
#include "analysis/ingest/rows/process_row.h"
#include "analysis/ingest/rows/row_sink.h"
#include "analysis/model/device_work.h"
#include "collector/wire/definitions.h"
#include "collector/wire/device_records.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

namespace sonde::ingest {

class DeviceRows {
 public:
  // All arguments except the time must outlive the object.
  DeviceRows(RowSink& sink,
             TimeBase time,
             const std::string& spool,
             const ProcessRow& process,
             Dictionary& dictionary)
      : sink_(sink), time_(time), spool_(spool), process_(process), dictionary_(dictionary) {}

  void define(const wire::DeviceDefinition& definition);
  void define(const wire::StreamDefinition& definition);

  // Return the row's id; 0: the record is invalid, as damaged ones are.
  std::int64_t add(const wire::Kernel& record);
  std::int64_t add(const wire::DeviceCopy& record);
  std::int64_t add(const wire::DeviceSync& record);
  void add(const wire::DeviceMetric& record, model::ThreadId thread);

  // Restore the state that an earlier recorder stored.
  void restoreDevice(std::uint32_t ordinal, model::DeviceId id) { devices_[ordinal] = id; }
  void restoreStream(std::uint32_t number, model::StreamId id) { streams_[number] = id; }

  // The row of the process's device with this number.
  model::DeviceId deviceOf(std::uint32_t ordinal);

  // All records so far are about events before this time.
  void heardAt(std::int64_t ns) noexcept { lastNs_ = std::max(lastNs_, ns); }
  std::int64_t lastNs() const noexcept { return lastNs_; }

 private:
  struct Span {
    std::int64_t startNs;
    model::OptionalInt durNs;
  };
  template <typename Record>
  model::DeviceWork workOf(const Record& record, model::StringId name);
  Span spanOf(std::uint64_t beginTicks, std::uint64_t endTicks);
  model::DeviceId knownDevice(std::string_view uuid);
  model::StringId kernelName(std::uint32_t name);
  void keep(std::uint64_t recordId, model::SyncId id);

  RowSink& sink_;
  TimeBase time_;
  const std::string& spool_;
  const ProcessRow& process_;
  Dictionary& dictionary_;
  std::unordered_map<std::uint32_t, model::DeviceId> devices_;  // by ordinal
  std::unordered_map<std::uint32_t, model::StreamId> streams_;
  // By context and number: a process with very many streams may define one again.
  std::map<std::pair<std::uint32_t, std::uint32_t>, model::StreamId> streamRows_;
  std::unordered_map<std::uint64_t, model::SyncId> records_;  // of events, the latest
  std::deque<std::uint64_t> recordOrder_;
  std::unordered_map<std::uint32_t, model::StringId> kernelNames_;  // by id in the dictionary
  std::int64_t lastNs_ = 0;
};

}  // namespace sonde::ingest
