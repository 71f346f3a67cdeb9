// The state of each member of a group in its last collectives: for a hang, a matrix of ranks and
// collectives. Plain values; reading uses the database's thread.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::engine::standstill {

enum class CollectiveState {
  Unknown,     // the rank's records do not reach there, or are not in the trace
  NotEntered,  // the rank has not called it
  Waiting,     // the rank is inside
  Done,
};

struct CollectiveStates {
  struct Column {
    std::string op;
    std::int64_t seq = 0;
    std::int64_t firstNs = 0;  // begin of its first member
  };
  struct Cell {
    CollectiveState state = CollectiveState::Unknown;
    std::optional<std::int64_t> startNs;  // if the rank's call is in the trace
    std::optional<std::int64_t> durNs;    // if its end is known
    std::optional<std::int64_t> sliceId;  // if the call has a slice
  };
  struct Row {
    std::string name;  // "rank 3"
    std::optional<std::int64_t> rank;
    std::vector<Cell> cells;  // by column
  };
  std::string group;            // `communicator.job_key`
  std::vector<Column> columns;  // by their first member's begin, oldest first
  std::vector<Row> rows;        // by position in the group
};

// The last `most` collectives of a group of a job that stands still, also from dumps. `group`:
// empty for the one in which a rank is missing, else behind, else waiting. Unset: the job does not
// stand still, or nobody is in a collective. Sends and receives are left out. Times are on the
// common clock.
Result<std::optional<CollectiveStates>> readCollectiveStates(const store::Database& trace,
                                                             std::string_view group,
                                                             std::size_t most = 30);

}  // namespace sonde::engine::standstill
