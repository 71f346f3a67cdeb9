// The places of an imported file's events: processes, threads, and the devices that they use.
//
// Each file is a host of its own, because files have no clock data; alignment joins them. Rows are
// stored at the end, when all facts about them are known. Owned by one importer, on one thread.
#pragma once

#include "analysis/ingest/import/event_fields.h"
#include "analysis/ingest/import/imported_devices.h"
#include "analysis/ingest/import/time_census.h"
#include "analysis/model/place.h"
#include "analysis/store/trace_writer.h"
#include "base/result.h"

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
    model::ProcessId group{};  // main process, whose correlations its calls use
  };

  ImportedPlaces(store::TraceWriter& writer, std::string hostName);

  // The thread of these labels. Each number above 0 and each text identifies a process. All other
  // labels ("Spans", -1, 0) are the profiler's and belong to the main process, the first one seen.
  // In a file of merged ranks each has a main process (groupOfLabel()); the first one's is the
  // file's.
  Track track(const Label& pid, const Label& tid);
  // Extends the thread's and process's life to this time.
  void cover(const Track& track, std::int64_t startNs, std::int64_t endNs) noexcept;

  // The process with a label, as an index for the functions below.
  std::size_t processOf(const Label& pid);
  // The main process of the label's group.
  std::size_t groupOf(const Label& pid);
  static constexpr std::size_t kMain = 0;
  model::ProcessId idOf(std::size_t process) const noexcept { return processes_[process].row.id; }
  std::int64_t pidOf(std::size_t process) const noexcept { return processes_[process].row.pid; }
  model::OptionalInt rankOf(std::size_t process) const noexcept {
    return processes_[process].row.rank;
  }
  model::OptionalInt worldSizeOf(std::size_t process) const noexcept {
    return processes_[process].row.worldSize;
  }
  std::size_t processes() const noexcept { return processes_.size(); }

  ImportedDevices& devices() noexcept { return devices_; }
  // Requires: describeProcess() was called for the process if the file describes it. `context`:
  // stream numbers are unique within a context of a process.
  model::StreamId stream(std::size_t process,
                         std::int64_t device,
                         std::int64_t number,
                         std::int64_t context = 0) {
    return devices_.stream(idOf(process), this->device(process, device), number, context);
  }
  model::DeviceId device(std::size_t process, std::int64_t ordinal) {
    return devices_.device(processes_[process].host, ordinal);
  }
  model::HostId host(std::size_t process) const noexcept {
    return devices_.idOf(processes_[process].host);
  }

  // Sets the original facts of a process, if the file has them.
  void describeProcess(const Label& pid, const EventArgs& facts);
  void describeThread(const Label& pid, const Label& tid, std::int64_t number) {
    threads_[track(pid, tid).index].row.tid = number;
  }
  void nameProcess(const Label& pid, std::string_view name);
  void nameThread(const Label& pid, const Label& tid, std::string_view name);
  void setRank(model::OptionalInt rank, model::OptionalInt worldSize);  // of the main process
  void setRank(std::size_t process, std::int64_t rank) { processes_[process].row.rank = rank; }
  // For the main process, if no process has a rank and no ranks were merged.
  void setRankIfNone(model::OptionalInt rank) noexcept;

  // Makes the process with the most events the main one, instead of the first one seen. The main
  // process keeps its index and id; settled() converts indexes returned before. Merged ranks get
  // their numbers from the labels.
  void settleMain();
  std::size_t settled(std::size_t process) const noexcept {
    return process < settled_.size() ? settled_[process] : process;
  }
  // The thread's process, after settleMain().
  model::ProcessId processOf(const Track& track) const noexcept {
    return processes_[threads_[track.index].process].row.id;
  }

  // Stores the rows, shifted by `shiftNs`. Ignores times outside of `window`. Requires: an open
  // transaction.
  Result<void> finish(std::int64_t shiftNs, const TimeWindow& window = {});

 private:
  struct Span {
    std::int64_t firstNs = std::numeric_limits<std::int64_t>::max();
    std::int64_t lastNs = std::numeric_limits<std::int64_t>::min();
  };
  using Period = std::map<std::int64_t, Span>;  // by TimeCensus::spanOf()
  struct Process {
    model::Process row{};
    std::size_t host = 0;
    std::string label;  // for the main process empty until one is seen
    Period period{};
    std::uint64_t events = 0;  // with its own label
    std::size_t group = 0;     // its main process
  };
  struct Thread {
    model::Thread row{};
    std::size_t process = 0;
    bool isOfMain = false;  // of the main process, whichever it will be
    std::string key;
    Period period{};
  };

  std::size_t addProcess(std::size_t group);
  void settleGroup(std::size_t main, std::size_t busiest);
  void settleRanks();
  static void put(const Period& period,
                  std::int64_t shiftNs,
                  const TimeWindow& window,
                  model::OptionalInt& startNs,
                  model::OptionalInt& endNs);

  store::TraceWriter& writer_;
  ImportedDevices devices_;
  std::vector<Process> processes_;    // the main one comes first
  std::vector<std::size_t> settled_;  // new index of each, once main processes are known
  std::unordered_map<std::string, std::size_t> groups_;  // main process by text; numbers excluded
  std::vector<std::string> groupTexts_;  // of merged ranks, in the order of groupMains_
  std::vector<std::size_t> groupMains_;
  std::vector<Thread> threads_;
  std::unordered_map<std::string, std::size_t> processesByLabel_;
  std::unordered_map<std::string, std::size_t> threadsByKey_;
  std::unordered_map<std::string, std::string> threadNames_;   // by key
  std::unordered_map<std::string, std::string> processNames_;  // by label
  std::string key_;  // of the last event; saves most look-ups
  std::size_t last_ = 0;
};

}  // namespace sonde::ingest
