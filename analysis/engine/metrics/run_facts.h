// Facts about the run as a whole: job, time, number of hosts, trend of its losses, cost of
// recording, and lost records. Plain values; reading uses the database's thread.
#pragma once

#include "analysis/engine/metrics/ranks.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::metrics {

struct LostRecords {
  std::string probe;
  std::string kind;
  std::string reason;
  std::int64_t count = 0;
};

// A warning of the recorder about the whole run: storing was slow, recording ended early, …
struct Warning {
  std::optional<std::int64_t> atNs;  // since the origin
  std::string text;
};

struct ScalarTrend {
  std::optional<std::int64_t> rank;
  std::string process;  // "rank 3", or "process 4711"
  std::string name;
  std::int64_t count = 0;
  std::optional<double> first;  // unset: not a number
  std::optional<double> last;
};

// Values that the program passed to sonde.metadata(): the last one of a key in a process, joined
// for all processes of a rank that agree.
struct Metadata {
  std::optional<std::int64_t> rank;
  std::string key;
  std::string value;
};

struct RunFacts {
  std::string job;
  std::string command;             // of the first process that no recorded process started
  std::vector<Metadata> metadata;  // by key, then by rank
  std::int64_t originNs = 0;       // the first instant of the trace
  std::int64_t wallNs = 0;         // from there to the last; for a trimmed trace the kept part
  std::int64_t runNs = 0;          // the same, of all that was recorded
  std::int64_t hosts = 0;
  std::int64_t processes = 0;
  std::int64_t ranks = 0;  // the known ones
  std::int64_t slices = 0;
  std::int64_t events = 0;  // rows of all kinds of event
  std::vector<LostRecords> lost;
  std::vector<Warning> warnings;
  std::optional<double> recorderCpuSeconds;
  std::optional<std::int64_t> recorderBytes;     // of records read from the spool
  std::optional<std::int64_t> recorderRssBytes;  // peak memory, over all recorders of a job
  std::string replayed;                          // how, if the times are those of a replay
  bool finished = true;                          // false: a recording that was not completed
};

Result<RunFacts> readFacts(const store::Database& trace);

// First and last value of every scalar of the ranks.
Result<std::vector<ScalarTrend>> scalarTrends(const store::Database& trace,
                                              const std::vector<RankProcess>& ranks);

}  // namespace sonde::engine::metrics
