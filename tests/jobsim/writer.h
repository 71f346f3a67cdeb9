// Makes the rows of a simulated job's trace. Within tests/jobsim.
#pragma once

#include "tests/jobsim/simulation.h"
#include "tests/support/trace_builder.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace sonde::jobsim {

class Writer {
 public:
  Writer(const Job& job, const History& history, const std::string& path, std::optional<int> rank)
      : job_(job), history_(history), trace_(path), only_(rank) {}

  void write();

 private:
  struct Place {
    model::HostId host;
    model::ProcessId process;
    model::DeviceId device;
    std::vector<model::StreamId> streams;
    std::map<int, model::CommunicatorId> groups;
    std::map<int, std::int64_t> seqs;          // of each group's next collective
    std::map<int, model::ChannelId> channels;  // by peer
    std::map<int, model::SyncId> events;       // their last records
    std::int64_t correlation = 0;
    std::int64_t iterations = 0;
    bool hasMain = false;
  };
  // A step that is being written, with what is around it.
  struct At {
    const Step& step;
    std::size_t index;
    Place& place;
    Ns begin;
    Ns ready;
    Ns end;
  };

  bool isWritten(int rank) const { return !only_ || *only_ == rank; }
  const Machine& machineOf(int rank) const {
    return job_
        .machines[static_cast<std::size_t>(job_.ranks[static_cast<std::size_t>(rank)].machine)];
  }
  Ns shown(int rank, Ns trueNs) const;
  int rankOf(int thread) const { return job_.threads[static_cast<std::size_t>(thread)].rank; }

  void addHosts();
  void addRank(int rank);
  void addThread(int thread);
  void writeThread(int rank, const std::vector<std::size_t>& steps);
  void writeStep(const At& at);
  void writeWorks();
  void writeCopy(const DeviceWork& work);
  void writeBlocks();
  void openScope(const At& at, const Begin& begin, Ns endNs);
  model::SliceId slice(const At& at,
                       model::SliceKind kind,
                       std::string_view category,
                       std::string_view name,
                       Ns endNs);
  // A CUDA call; its correlation id is the place's.
  void call(const At& at, std::string_view name);
  void sync(const At& at, model::SyncKind kind, int stream, std::optional<int> event);
  void meet(const At& at, const Meet& op);
  void transfer(const At& at, model::Direction direction, int peer, int tag, std::int64_t bytes);
  void handOff(const At& at);

  const Job& job_;
  const History& history_;
  test::TraceBuilder trace_;
  std::optional<int> only_;
  std::vector<model::HostId> hosts_;
  std::vector<Place> places_;  // by rank
  std::vector<model::ThreadId> threads_;
  std::vector<model::SliceId> slices_;                         // by step; none: it left no slice
  std::map<std::size_t, std::int64_t> correlations_;           // of steps that launched something
  std::vector<std::pair<model::SliceId, std::int64_t>> open_;  // scopes of the thread
  std::map<std::size_t, model::SliceId> scopes_;               // of steps that allocated something
  std::map<std::tuple<int, int, int, bool>, std::int64_t> messages_;  // from, to, tag, received
};

}  // namespace sonde::jobsim
