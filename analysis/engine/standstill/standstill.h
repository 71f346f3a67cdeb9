// A job that stood still when its trace ended: since when, what each rank was in the middle of, and
// who has not entered the collective that the others wait in. Plain values; reading uses the
// database's thread.
//
// A process gets on when a scope, collective, message, kernel or copy of it ends, or a scope
// begins; one that records none of these, with whatever it records. The job stands still from the
// last of these instants over its ranks to the end of what was recorded: while it runs, to where
// the traces of all ranks reach. That is worth saying where the job did not end by itself,
// something is open, and the time is at least kLeastNs and kTimesLongest times the longest
// iteration (without any, collective) that ended. Times are on the job's common clock.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::standstill {

inline constexpr std::int64_t kLeastNs = 1'000'000'000;
inline constexpr std::int64_t kTimesLongest = 2;
// A recorder brings its trace up to date every ten seconds at the least: one that is behind the
// others by more than this does so no more.
inline constexpr std::int64_t kMostBehindNs = 15'000'000'000;

// A call or scope without an end, as a row of table open_call; or a collective that a device has
// not finished.
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
  std::optional<std::int64_t> waitsForTid;  // the thread that holds what it waits for
};

// The last collective of a rank that ended.
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
  std::int64_t progressNs = 0;  // when it got on last
  std::string state;            // as `process.state`
  std::optional<std::int64_t> exitSignal;
  std::optional<LastCollective> last;
  std::vector<OpenCall>
      open;  // by thread, the outermost first; the oldest collective's thread first
};

// A collective that some ranks are in, and who is not.
struct Rendezvous {
  struct Member {
    std::string name;
    std::optional<std::int64_t> rank;
    std::optional<std::int64_t> sinceNs;  // of who has entered it
    std::optional<LastCollective> last;   // of who has not: in the same group
    bool isHere = true;                   // false: the traces have nothing of it
    std::string otherOp;  // the collective that it called under this number; empty: none
    // Its trace ends here, before the others entered: whether it has entered is not known.
    std::optional<std::int64_t> knownUntilNs;
  };
  std::string group;
  std::string op;
  std::optional<std::int64_t> seq;
  std::optional<std::int64_t> bytes;
  std::vector<Member> entered;
  std::vector<Member> absent;
  std::int64_t unknown = 0;  // members of the group of whom the traces say nothing
};

// Threads of one process of which each waits for what the next one holds.
struct Deadlock {
  std::int64_t processId = 0;
  std::vector<OpenCall> waits;
};

// A process that a rank had started, and that ended while the job stood still or just before, other
// than by exit 0.
struct LostHelper {
  std::string name;   // "process 4711"
  std::string owner;  // whose it was: "rank 0"
  std::optional<std::int64_t> exitStatus;
  std::optional<std::int64_t> exitSignal;
  std::int64_t endNs = 0;
};

struct Standstill {
  std::int64_t sinceNs = 0;
  std::int64_t untilNs = 0;
  std::int64_t windowNs = 0;  // from the begin of the trace
  bool isRunning = false;     // some process has not ended
  std::vector<RankState> ranks;
  std::vector<Rendezvous> rendezvous;  // those that somebody has not entered, then the oldest first
  std::vector<Deadlock> deadlocks;
  std::vector<LostHelper> lostHelpers;
};

// Nothing where the job got on until the end, ended by itself, or the trace has no open calls.
Result<std::optional<Standstill>> readStandstill(const store::Database& trace);

}  // namespace sonde::engine::standstill
