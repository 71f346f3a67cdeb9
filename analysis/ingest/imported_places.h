// Where the events of an imported file happened: its processes, threads, devices and streams.
//
// One host for each file, because files say nothing of clocks: alignment brings them together. Rows
// are stored at the end, when all that the file says of them is known. Owned by one importer, on
// one thread.
#pragma once

#include "analysis/base/result.h"
#include "analysis/ingest/trace_event/event_fields.h"
#include "analysis/model/place.h"
#include "analysis/store/trace_writer.h"

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sonde::ingest {

class ImportedPlaces {
 public:
  struct Track {
    std::size_t index = 0;
    model::ThreadId thread{};
    model::ProcessId process{};
  };
  struct Device {
    std::string kind = "gpu";
    std::string name;
    model::OptionalInt memoryBytes{};
  };

  ImportedPlaces(store::TraceWriter& writer, std::string hostName);

  // The thread of these labels. Each number above 0 names a process of its own; everything else
  // ("Spans", -1, 0) is the profiler's own and belongs to the main process, the first that is seen.
  Track track(const Label& pid, const Label& tid);
  // Something happened there in this time.
  void cover(const Track& track, std::int64_t startNs, std::int64_t endNs) noexcept;

  model::StreamId stream(std::int64_t device, std::int64_t number);
  model::DeviceId device(std::int64_t ordinal);
  model::ProcessId mainProcess() const noexcept { return processes_.front().row.id; }

  void nameProcess(const Label& pid, std::string_view name);
  void nameThread(const Label& pid, const Label& tid, std::string_view name);
  void describeDevice(std::int64_t ordinal, Device facts) { facts_[ordinal] = std::move(facts); }
  void setRank(model::OptionalInt rank, model::OptionalInt worldSize);
  model::OptionalInt rank() const noexcept { return processes_.front().row.rank; }
  model::OptionalInt worldSize() const noexcept { return processes_.front().row.worldSize; }

  // Stores the rows, times `shiftNs` later. Requires: a transaction is open.
  Result<void> finish(std::int64_t shiftNs);

 private:
  struct Period {
    std::int64_t firstNs = std::numeric_limits<std::int64_t>::max();
    std::int64_t lastNs = std::numeric_limits<std::int64_t>::min();
  };
  struct Process {
    model::Process row{};
    std::string label;  // of the main process empty until one is seen
    Period period{};
  };
  struct Thread {
    model::Thread row{};
    std::size_t process = 0;
    std::string key;
    Period period{};
  };

  std::size_t processOf(const Label& pid);
  static void put(const Period& period,
                  std::int64_t shiftNs,
                  model::OptionalInt& startNs,
                  model::OptionalInt& endNs);
  Result<void> storeDevices(model::HostId host);

  store::TraceWriter& writer_;
  std::string hostName_;
  std::vector<Process> processes_;  // the main one first
  std::vector<Thread> threads_;
  std::unordered_map<std::string, std::size_t> threadsByKey_;
  std::unordered_map<std::string, std::string> threadNames_;   // by key
  std::unordered_map<std::string, std::string> processNames_;  // by label
  std::map<std::int64_t, Device> facts_;                       // by ordinal
  std::map<std::int64_t, model::DeviceId> devices_;
  std::map<std::pair<std::int64_t, std::int64_t>, model::StreamId> streams_;
  std::string key_;  // of the last event, so that most need no look-up
  std::size_t last_ = 0;
};

}  // namespace sonde::ingest
