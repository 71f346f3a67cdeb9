// Where the time went: divides the wall time of processes by what was active, and by the
// algorithm's operation it was active in. The parts of a process sum to its wall time. Plain
// values; reading uses the database's thread.
//
// At each instant a thread is in its innermost scope and does what its innermost slice says. A
// process is in the operations of all its threads. At launch it is also in the operations that
// launched what its devices do then. The same holds for categories. Something that is active twice
// counts once. docs/breakdown.md has the rules.
//
// Source: RL-Scope (Gleeson et al., MLSys 2021), section 3.4.
#pragma once

#include "analysis/engine/correction/corrected_times.h"
#include "analysis/engine/intervals/intervals.h"
#include "analysis/model/words.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::engine::breakdown {

// The dimensions that get rows of their own.
struct Dimensions {
  bool process = false;
  bool thread = false;  // each thread by itself; devices do not count
  bool phase = false;
  bool operation = false;
  bool module = false;
  bool iteration = false;
  bool category = false;
  bool resource = false;
};

struct Options {
  Dimensions by;
  bool atLaunch = true;  // device work belongs to the operation that launched it; else to those
                         // that the host is in meanwhile
  bool byIterationRow = false;  // Group::iteration is the id of an `iteration` row, since numbers
                                // may repeat; else the number
  bool correct = true;          // for the cost of recording, where it is known
  const correction::CostSet* measured = nullptr;  // these costs take precedence over the trace's
  unsigned parallel = 0;                          // processes at once; 0: one per processor
  std::optional<metrics::Interval> within = {};   // job time; what crosses its borders is clipped
};

enum class Resource : std::uint8_t { Cpu, Gpu, CpuAndGpu };
std::string_view word(Resource resource) noexcept;

// The values that a row stands for. Dimensions that were not requested are unset; a requested one
// is empty outside of all its scopes.
struct Group {
  std::optional<std::int64_t> processId;
  std::optional<std::int64_t> threadId;
  std::vector<std::string> phases;  // each ascending
  std::vector<std::string> operations;
  std::vector<std::string> modules;
  std::optional<std::int64_t> iteration;  // its number; also unset outside of all
  std::vector<std::string_view> categories;
  std::optional<Resource> resource;

  auto operator<=>(const Group&) const = default;
};

// How long the group lasted. If the cost of recording is known, `ns` is corrected, and [lowNs,
// highNs] holds 95 % of its errors. Else all times are the same.
struct Row {
  Group group;
  std::int64_t ns = 0;
  std::int64_t rawNs = 0;  // as recorded
  std::int64_t lowNs = 0;
  std::int64_t highNs = 0;
  double errorNs = 0;  // standard error, from the causes of error alone; highNs at rawNs does not
                       // limit it
};

// Recorded events whose cost of recording is unknown.
struct UnknownCost {
  std::string probe;
  std::string api;
  std::int64_t count = 0;
};

// How often a category became active while the operations did not change.
struct Entered {
  Group group;  // without categories and resource
  std::string_view category;
  std::int64_t count = 0;
};

struct ProcessTotal {
  std::int64_t id = 0;
  std::int64_t pid = 0;
  std::optional<std::int64_t> rank;
  std::int64_t wallNs = 0;
  std::string host = {};
  std::string command = {};
};

struct ThreadName {
  std::int64_t tid = 0;
  std::string name = {};  // empty: it has none
};

// Iteration numbers that repeat in a process, for example because it counts from 0 in each epoch. A
// row then holds all iterations of its number.
struct RepeatedNumbers {
  std::int64_t times = 0;  // how often the most frequent number occurs
  std::int64_t first = 0;  // the least of the repeated numbers
  std::int64_t last = 0;
};

struct Breakdown {
  std::vector<Row> rows;         // by process, thread and iteration, then the longest first
  std::vector<Entered> entered;  // likewise, then the most frequent first
  std::vector<ProcessTotal> processes;
  std::map<std::int64_t, ThreadName> threads;  // by id
  // The kind of the first phase, operation or module with the name, for those of the rows.
  std::map<std::string, model::SliceKind> kinds;
  std::int64_t totalNs = 0;  // of the rows
  std::int64_t rawTotalNs = 0;
  std::int64_t maskedNs = 0;  // of iterations that were recorded in part; they are left out
  std::optional<RepeatedNumbers> repeated;  // for rows by iteration; unset: no number repeats
  bool corrected = false;
  std::vector<correction::MeasuredCost> costs;  // that were subtracted
  std::vector<UnknownCost> unknownCosts;
  correction::Unexplained unexplained;  // the intervals include it
  std::int64_t negative = 0;            // events that end before they begin; they take no time
  std::int64_t endsUnknown = 0;         // device and network events without an end: no time either
};

// NotFound: nothing that takes time was recorded (`within` that time), or nothing counts. Corrupt:
// an id is invalid.
Result<Breakdown> breakDown(const store::Database& trace, const Options& options);

}  // namespace sonde::engine::breakdown
