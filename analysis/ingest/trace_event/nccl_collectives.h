// The collectives of an imported process: one row for each of NCCL's or RCCL's kernels.
//
// kineto copies the arguments of the call (group, element counts, data type) to the kernel that it
// started; older files have the kernel's name alone, and then the group is that of all ranks.
// Owned by one importer, on one thread; keeps all collectives of a process in memory.
#pragma once

#include "analysis/ingest/import/event_fields.h"
#include "analysis/ingest/import/time_census.h"
#include "analysis/ingest/trace_event/file_facts.h"
#include "analysis/model/event.h"
#include "analysis/store/trace_writer.h"
#include "base/result.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sonde::ingest {

class NcclCollectives {
 public:
  // The ranks of groups as the file says them beside its events: kernels' own lists are shortened
  // when they are long, or missing.
  void describeGroups(ProcessGroups groups) { known_ = std::move(groups); }

  // `work` is the kernel's row, whose event this is. Does nothing when it is no collective.
  void add(const TraceEvent& event, const model::Kernel& kernel);

  // Stores them in the order in which they began, `shiftNs` later. Where no collective of a group
  // has a sequence number of its own, each gets its ordinal: all ranks issue them in the same
  // order. Sends and receives have none then. Requires: a transaction is open.
  Result<void> finish(store::TraceWriter& writer,
                      model::ProcessId process,
                      model::OptionalInt rank,
                      model::OptionalInt worldSize,
                      std::int64_t shiftNs);
  // Those outside are not stored. Requires: finish() was not called.
  void leaveOut(const TimeWindow& window);

 private:
  struct Group {
    std::string name;
    std::vector<std::int64_t> ranks;
    std::int64_t size = 0;
    model::CommunicatorId id{};
  };
  struct Call {
    std::size_t group = 0;
    model::OptionalInt peerRank{};  // in the job
    model::Collective row{};
  };

  std::size_t groupOf(const EventArgs& args);
  static model::OptionalInt positionOf(std::int64_t rank, const Group& group);
  void complete(Group& group, model::OptionalInt worldSize) const;
  Result<void> storeGroups(store::TraceWriter& writer,
                           model::ProcessId process,
                           model::OptionalInt rank,
                           model::OptionalInt worldSize);
  static Result<void> storeMembers(store::TraceWriter& writer,
                                   const Group& group,
                                   model::ProcessId process,
                                   model::OptionalInt rank);

  ProcessGroups known_;
  std::vector<Group> groups_;
  std::map<std::string, std::size_t, std::less<>> groupsByKey_;
  std::vector<Call> calls_;
};

}  // namespace sonde::ingest
