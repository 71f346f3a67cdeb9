// Where the events of an imported file happened: its processes, threads, devices and streams.
//
// One host for each file, because files say nothing of clocks: alignment brings them together. Rows
// are stored at the end, when all that the file says of them is known. Owned by one importer, on
// one thread.
#pragma once

#include "analysis/ingest/import/event_fields.h"
#include "analysis/ingest/import/time_census.h"
#include "analysis/model/place.h"
#include "analysis/store/trace_writer.h"
#include "base/result.h"

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
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
    model::ProcessId group{};  // whose correlations are those of its calls
  };
  struct Device {
    std::string kind = "gpu";
    std::string name;
    model::OptionalInt memoryBytes{};
    std::string uuid{};
  };

  ImportedPlaces(store::TraceWriter& writer, std::string hostName);

  // The thread of these labels. Each number above 0 names a process of its own, and so does each
  // text; everything else ("Spans", -1, 0) is the profiler's own and belongs to the main process,
  // the first that is seen. Where ranks were merged into one file, each has a main process
  // (groupOfLabel()); that of the first is the file's.
  Track track(const Label& pid, const Label& tid);
  // Something happened there in this time.
  void cover(const Track& track, std::int64_t startNs, std::int64_t endNs) noexcept;

  // A process by its label, and what is asked of it by its index.
  std::size_t processOf(const Label& pid);
  // The main process of those that the label is of.
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

  // Requires: what describeProcess() says of the process has been said.
  // `context`: numbers are of their own in each of a process' contexts.
  model::StreamId stream(std::size_t process,
                         std::int64_t device,
                         std::int64_t number,
                         std::int64_t context = 0);
  model::DeviceId device(std::size_t process, std::int64_t ordinal) {
    return deviceOf(processes_[process].host, ordinal);
  }
  model::HostId host(std::size_t process) const noexcept {
    return hosts_[processes_[process].host].id;
  }

  // What a process was where it was recorded, when the file says so.
  void describeProcess(const Label& pid, const EventArgs& facts);
  void describeThread(const Label& pid, const Label& tid, std::int64_t number) {
    threads_[track(pid, tid).index].row.tid = number;
  }
  void nameProcess(const Label& pid, std::string_view name);
  void nameThread(const Label& pid, const Label& tid, std::string_view name);
  // `host`: its name; empty: whichever has it. `number`: what tells hosts of one name apart.
  void describeDevice(std::string host, OptionalNumber number, std::int64_t ordinal, Device facts) {
    facts_[{std::move(host), number, ordinal}] = std::move(facts);
  }
  void setRank(model::OptionalInt rank, model::OptionalInt worldSize);  // of the main process
  void setRank(std::size_t process, std::int64_t rank) { processes_[process].row.rank = rank; }
  // Of the main process, if no process has one and no ranks were merged.
  void setRankIfNone(model::OptionalInt rank) noexcept;

  // Takes the process with the most events for the main one, not the first that was seen. The main
  // process keeps its index and id; of those that were given for the pid of an event they are now
  // settled(). Ranks that were merged get theirs by the labels.
  void settleMain();
  std::size_t settled(std::size_t process) const noexcept {
    return process < settled_.size() ? settled_[process] : process;
  }
  // Whose the thread is, after settleMain().
  model::ProcessId processOf(const Track& track) const noexcept {
    return processes_[threads_[track.index].process].row.id;
  }

  // Stores the rows, times `shiftNs` later. What cover() was told outside of `window` does not
  // count. Requires: a transaction is open.
  Result<void> finish(std::int64_t shiftNs, const TimeWindow& window = {});

 private:
  struct Span {
    std::int64_t firstNs = std::numeric_limits<std::int64_t>::max();
    std::int64_t lastNs = std::numeric_limits<std::int64_t>::min();
  };
  using Period = std::map<std::int64_t, Span>;  // by TimeCensus::spanOf()
  struct Host {
    model::HostId id{};
    std::string name;
    OptionalNumber number{};
  };
  struct Process {
    model::Process row{};
    std::size_t host = 0;
    std::string label;  // of the main process empty until one is seen
    Period period{};
    std::uint64_t events = 0;  // that say they are its own
    std::size_t group = 0;     // its main process
  };
  struct Thread {
    model::Thread row{};
    std::size_t process = 0;
    bool isOfMain = false;  // whichever that is
    std::string key;
    Period period{};
  };

  std::size_t addProcess(std::size_t group);
  void settleGroup(std::size_t main, std::size_t busiest);
  void settleRanks();
  model::DeviceId deviceOf(std::size_t host, std::int64_t ordinal);
  static void put(const Period& period,
                  std::int64_t shiftNs,
                  const TimeWindow& window,
                  model::OptionalInt& startNs,
                  model::OptionalInt& endNs);
  Result<void> storeHosts();
  const Device& factsOf(std::size_t host, std::int64_t ordinal);
  Result<void> storeDevices();

  store::TraceWriter& writer_;
  std::vector<Host> hosts_;           // the file's own first
  std::vector<Process> processes_;    // the main one first
  std::vector<std::size_t> settled_;  // where each is, once the main ones are known
  std::unordered_map<std::string, std::size_t> groups_;  // main process by text; not of numbers
  std::vector<std::string> groupTexts_;  // of ranks that were merged, in the order of groupMains_
  std::vector<std::size_t> groupMains_;
  std::vector<Thread> threads_;
  std::unordered_map<std::string, std::size_t> processesByLabel_;
  std::unordered_map<std::string, std::size_t> threadsByKey_;
  std::unordered_map<std::string, std::string> threadNames_;   // by key
  std::unordered_map<std::string, std::string> processNames_;  // by label
  // By name and number of the host, ordinal.
  std::map<std::tuple<std::string, OptionalNumber, std::int64_t>, Device> facts_;
  using DeviceKey = std::pair<std::size_t, std::int64_t>;  // host, ordinal
  // process, device, number, context
  using StreamKey = std::tuple<std::size_t, std::int64_t, std::int64_t, std::int64_t>;
  std::map<DeviceKey, model::DeviceId> devices_;
  std::map<StreamKey, model::StreamId> streams_;
  std::string key_;  // of the last event, so that most need no look-up
  std::size_t last_ = 0;
};

}  // namespace sonde::ingest
