// When the recorder was busy storing, which takes a processor's time from the job: rows of table
// storing. Kept until the transaction that stores them has committed. Owned by the drainer, on its
// thread.
#pragma once

#include "base/result.h"
#include "recorder/drain/trace_recorder.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sonde::recorder {

// A look that finds little disturbs nobody: shorter ones are no rows.
inline constexpr std::int64_t kShortestStoringNs = 1'000'000;

class StoringTimes {
 public:
  // By this machine's monotonic clock, in the order of time. Those close to each other become one.
  void add(std::int64_t beginNs, std::int64_t endNs);

  // Those that none which begins at `nextNs`, or later, would be joined with. Requires: a
  // transaction.
  Result<void> store(TraceRecorder& trace, std::int64_t nextNs);
  void committed();
  void rolledBack() { stored_ = 0; }

 private:
  struct Time {
    std::int64_t beginNs;
    std::int64_t endNs;
  };

  std::vector<Time> times_;
  std::size_t stored_ = 0;  // the first of them, in the transaction that is open
};

}  // namespace sonde::recorder
