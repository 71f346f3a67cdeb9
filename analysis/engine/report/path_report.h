// The causes of the critical path of a job's iterations, and its slowest rank, in a few values.
// Uses the database's thread; then plain values.
#pragma once

#include "analysis/engine/critical/path_parts.h"
#include "analysis/engine/stragglers/stragglers.h"
#include "analysis/store/database.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::report {

// A graph takes some 400 bytes for each event, and about as long as all the rest of a report. So a
// larger trace goes without.
inline constexpr std::int64_t kMostPathEvents = 1'000'000;

struct PathCauseShare {
  critical::PathCause cause = critical::PathCause::Host;
  std::string what;  // the name with the most time of this cause; may be empty
  std::int64_t ns = 0;
  double share = 0;  // of all paths
};

// A check of the graph: in so many collectives it lacks the waits for other ranks.
struct PathDoubt {
  std::string check;  // a word for JSON
  std::int64_t violations = 0;
  std::string text;
};

struct PathReport {
  std::int64_t iterations = 0;         // that have a path; 0: `reason` says why
  std::int64_t ns = 0;                 // of their paths
  std::vector<PathCauseShare> causes;  // the longest first
  std::optional<stragglers::Straggler> straggler;
  std::string whyNoStraggler;  // empty: they were looked for
  std::vector<PathDoubt> doubts;
  std::string reason;
  bool isTooLarge = false;  // the reason: the trace has too many events
};

// Never fails: if the graph cannot be built, that is the reason. `events`: of the trace.
PathReport readPaths(const store::Database& trace, std::int64_t events);

// Sums parts by cause; the longest first.
std::vector<PathCauseShare> causesOf(const std::vector<critical::PathPart>& parts);

}  // namespace sonde::engine::report
