// Where the time went: the wall time of processes in parts, by what was active in each of them and
// in which of the algorithm's operations. The parts of a process sum to its wall time. Plain
// values; reading uses the database's thread.
//
// At an instant a thread is in its innermost scope and does what its innermost slice says. The
// operations of a process are those of all its threads, and with them, at launch, those that
// launched what its devices do at that instant; its categories likewise. What is active twice
// counts once. docs/breakdown.md has the rules.
//
// Source: RL-Scope (Gleeson et al., MLSys 2021), section 3.4.
#pragma once

#include "analysis/engine/correction/corrected_times.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::engine::breakdown {

// What rows are told apart by.
struct Dimensions {
  bool process = false;
  bool thread = false;  // each thread by itself; of devices nothing
  bool phase = false;
  bool operation = false;
  bool module = false;
  bool iteration = false;
  bool category = false;
  bool resource = false;
};

struct Options {
  Dimensions by;
  bool atLaunch = true;  // what a device does belongs to the operation that launched it; else to
                         // those that the host is in meanwhile
  bool byIterationRow = false;  // Group::iteration is the id of a row of `iteration`, as numbers
                                // may come again; else the number
  bool correct = true;          // for the cost of recording, where that is known
  const correction::CostSet* measured = nullptr;  // costs that count before those of the trace
  unsigned parallel = 0;  // processes at once; 0: as many as there are processors
};

enum class Resource : std::uint8_t { Cpu, Gpu, CpuAndGpu };
std::string_view word(Resource resource) noexcept;

// What a row is of. Of what was not asked for there is nothing; a set that was is empty outside of
// all of its kind.
struct Group {
  std::optional<std::int64_t> processId;
  std::optional<std::int64_t> threadId;
  std::vector<std::string> phases;  // each ascending
  std::vector<std::string> operations;
  std::vector<std::string> modules;
  std::optional<std::int64_t> iteration;  // its number; also nothing outside of all
  std::vector<std::string_view> categories;
  std::optional<Resource> resource;

  auto operator<=>(const Group&) const = default;
};

// How long it lasted; corrected for the cost of recording, where that is known, with the interval
// that 95 % of its errors stay within. Else all are the same.
struct Row {
  Group group;
  std::int64_t ns = 0;
  std::int64_t rawNs = 0;  // as recorded
  std::int64_t lowNs = 0;
  std::int64_t highNs = 0;
  double errorNs = 0;  // standard, by the causes of error alone: also where highNs ends at rawNs
};

// Recorded events of which nobody knows what they cost.
struct UnknownCost {
  std::string probe;
  std::string api;
  std::int64_t count = 0;
};

// That a category became active while the operations stayed what they were.
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

// Numbers of iterations that come again in a process, as of one that counts from 0 in each epoch. A
// row is of all iterations of its number.
struct RepeatedNumbers {
  std::int64_t times = 0;  // that the most frequent one comes
  std::int64_t first = 0;  // the least of them
  std::int64_t last = 0;
};

struct Breakdown {
  std::vector<Row> rows;         // by process, thread and iteration, then the longest first
  std::vector<Entered> entered;  // likewise, then the most frequent first
  std::vector<ProcessTotal> processes;
  std::map<std::int64_t, ThreadName> threads;  // by id
  std::int64_t totalNs = 0;                    // of the rows
  std::int64_t rawTotalNs = 0;
  std::int64_t maskedNs = 0;  // of iterations of which not all was recorded: they are left out
  std::optional<RepeatedNumbers> repeated;  // of rows by iteration; nothing: there are none
  bool corrected = false;
  std::vector<correction::MeasuredCost> costs;  // that were taken out
  std::vector<UnknownCost> unknownCosts;
  correction::Unexplained unexplained;  // which the intervals allow for
  std::int64_t negative = 0;            // events that end before they begin: they take no time
  std::int64_t endsUnknown = 0;         // nor does what devices and the network did and has no end
};

// NotFound: nothing that takes time was recorded, or counts. Corrupt: ids are none.
Result<Breakdown> breakDown(const store::Database& trace, const Options& options);

}  // namespace sonde::engine::breakdown
