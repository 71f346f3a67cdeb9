// Makes rows of what a process' devices did: kernels, copies, synchronisation. They are
// told of late and in no order; which call launched what, and where calls stand among the slices of
// their threads, is found when all are there (device_calls.h).
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
  // All but the time must outlive it.
  DeviceRows(RowSink& sink,
             TimeBase time,
             const std::string& spool,
             const ProcessRow& process,
             Dictionary& dictionary)
      : sink_(sink), time_(time), spool_(spool), process_(process), dictionary_(dictionary) {}

  void define(const wire::DeviceDefinition& definition);
  void define(const wire::StreamDefinition& definition);

  // The rows' ids; 0: it makes no sense, as damaged records do.
  std::int64_t add(const wire::Kernel& record);
  std::int64_t add(const wire::DeviceCopy& record);
  std::int64_t add(const wire::DeviceSync& record);
  void add(const wire::DeviceMetric& record, model::ThreadId thread);

  // What an earlier recorder left as state.
  void restoreDevice(std::uint32_t ordinal, model::DeviceId id) { devices_[ordinal] = id; }
  void restoreStream(std::uint32_t number, model::StreamId id) { streams_[number] = id; }

  // The row of the process's device of this number.
  model::DeviceId deviceOf(std::uint32_t ordinal);

  // All that has been heard of so far had happened by then.
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
  // By context and number: a process that has very many streams defines one again.
  std::map<std::pair<std::uint32_t, std::uint32_t>, model::StreamId> streamRows_;
  std::unordered_map<std::uint64_t, model::SyncId> records_;  // of events, the latest
  std::deque<std::uint64_t> recordOrder_;
  std::unordered_map<std::uint32_t, model::StringId> kernelNames_;  // by that of the dictionary
  std::int64_t lastNs_ = 0;
};

}  // namespace sonde::ingest
