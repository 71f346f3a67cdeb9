// A job that stood still when its trace ended: since when, what each rank was doing, and who has
// not entered the collective that the others wait in. Plain values; reading uses the database's
// thread.
//
// A process makes progress when one of its scopes, collectives, messages, kernels or copies ends,
// or a scope begins. If it records none of these, any record counts. The job stands still from the
// last progress of any rank to the end of the recording; while it runs, to the time that the traces
// of all ranks reach. This is reported if the job did not end by itself, something is open, and the
// time is at least kLeastNs and kTimesLongest times the longest completed iteration (without any,
// collective). Times are on the job's common clock.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sonde::engine::standstill {

inline constexpr std::int64_t kLeastNs = 1'000'000'000;
inline constexpr std::int64_t kTimesLongest = 2;
// A recorder updates its trace at least every ten seconds. One that lags the others by more than
// this has stopped.
inline constexpr std::int64_t kMostBehindNs = 15'000'000'000;

// A call or scope without an end, as in table open_call; or a collective that a device has not
// finished.
struct OpenCall {
  std::int64_t processId = 0;
  std::int64_t threadId = 0;  // 0: none, the call has returned and the device has the work
  std::int64_t tid = 0;
  std::string kind;
  std::string category;
  std::string name;
  std::int64_t sinceNs = 0;
  std::string group;  // `communicator.job_key`; empty: none
  std::string op;
  std::optional<std::int64_t> seq;
  std::optional<std::int64_t> bytes;
  std::optional<std::int64_t> peer;  // rank in the group
  std::optional<std::int64_t> tag;
  std::string remote;                       // the other end of its channel; empty: none
  std::optional<std::int64_t> waitsForTid;  // the thread that holds the awaited object
};

// The last completed collective of a rank.
struct LastCollective {
  std::string group;
  std::string op;
  std::optional<std::int64_t> seq;
  std::int64_t endNs = 0;
};

struct RankState {
  std::int64_t processId = 0;
  std::optional<std::int64_t> rank;
  std::string name;             // "rank 3", or "process 4711"
  std::int64_t progressNs = 0;  // time of its last progress
  std::string state;            // as `process.state`
  std::optional<std::int64_t> exitSignal;
  std::optional<LastCollective> last;
  std::vector<OpenCall>
      open;  // by thread, outermost first; the thread with the oldest collective first
};

// A collective that some ranks are in, and the members that are not.
struct Rendezvous {
  struct Member {
    std::string name;
    std::optional<std::int64_t> rank;
    std::optional<std::int64_t> sinceNs;  // if it has entered
    std::optional<LastCollective> last;   // if it has not: in the same group
    bool isHere = true;                   // false: not in the traces
    std::string otherOp;  // the collective that it called under this number; empty: none
    // If set: its trace ends here, before the others entered, so whether it has entered is unknown.
    std::optional<std::int64_t> knownUntilNs;
  };
  std::string group;
  std::string op;
  std::optional<std::int64_t> seq;
  std::optional<std::int64_t> bytes;
  std::vector<Member> entered;
  std::vector<Member> absent;
  std::int64_t unknown = 0;  // members of the group that are not in the traces
};

// Threads of one process, each waiting for what the next one holds.
struct Deadlock {
  std::int64_t processId = 0;
  std::vector<OpenCall> waits;
};

// A process that a rank started. It ended while the job stood still or just before, but not with
// exit status 0.
struct LostHelper {
  std::string name;   // "process 4711"
  std::string owner;  // "rank 0"
  std::optional<std::int64_t> exitStatus;
  std::optional<std::int64_t> exitSignal;
  std::int64_t endNs = 0;
};

// A rank that has not finished a collective that another member has finished. Only from dumps.
struct Behind {
  std::string name;
  std::string group;
  std::string op;
  std::int64_t seq = 0;  // its oldest unfinished one
  std::set<std::string> doneBy;
  std::set<std::string> waiting;  // the other members that wait in a collective of the group
};

struct Standstill {
  std::int64_t sinceNs = 0;
  std::int64_t untilNs = 0;
  std::int64_t windowNs = 0;  // from the begin of the trace
  bool isRunning = false;     // some process has not ended
  std::vector<RankState> ranks;
  std::vector<Rendezvous> rendezvous;  // those that a member has not entered first, then the oldest
  std::vector<Deadlock> deadlocks;
  std::vector<LostHelper> lostHelpers;
  std::vector<Behind> behind;
  bool isDump = false;  // from dumps, which do not say since when
};

// Unset if the job made progress until the end, ended by itself, or the trace has no open calls.
Result<std::optional<Standstill>> readStandstill(const store::Database& trace);

}  // namespace sonde::engine::standstill
