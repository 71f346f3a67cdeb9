// The collectives of an imported process: one row for each kernel of NCCL or RCCL.
//
// kineto copies the arguments of the call (group, element counts, data type) to the kernel it
// started. Older files only have the kernel's name; the group is then that of all ranks. Owned by
// one importer, on one thread; keeps all collectives of a process in memory.
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
  // The ranks of groups from the file's facts beside its events: the kernels' own lists may be
  // shortened or missing.
  void describeGroups(ProcessGroups groups) { known_ = std::move(groups); }

  // `work` is the kernel's row, from this event. Does nothing if the kernel is not a collective's.
  void add(const TraceEvent& event, const model::Kernel& kernel);

  // Stores them by begin, shifted by `shiftNs`. If no collective of a group has a sequence number,
  // each gets its ordinal, since all ranks issue them in the same order; sends and receives then
  // have none. Requires: an open transaction.
  Result<void> finish(store::TraceWriter& writer,
                      model::ProcessId process,
                      model::OptionalInt rank,
                      model::OptionalInt worldSize,
                      std::int64_t shiftNs);
  // Drops those outside of `window`. Requires: before finish().
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
