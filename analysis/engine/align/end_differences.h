// Estimates how far two clocks are apart, from pairs of events that happened nearly at once. Plain
// values; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sonde::engine::align {

// Something ended on two hosts: at `oneNs` by the first host's clock, `laterNs` later by the other
// one's.
struct EndDifference {
  std::int64_t oneNs;
  std::int64_t laterNs;
};

// The difference at a time, and the spread around it in which the true one probably lies.
struct EndEstimate {
  std::int64_t oneNs;
  std::int64_t laterNs;
  std::int64_t spreadNs;  // at least 1 µs
};

// Keeps at most 4,096 differences, evenly over the time.
class EndDifferences {
 public:
  void add(const EndDifference& difference);
  // Medians of groups of neighbours, at most 32. The groups have at least 8 differences, unless
  // there are fewer. `spreadNs` is the median distance from a line through the medians (Theil and
  // Sen's).
  std::vector<EndEstimate> estimates() const;

 private:
  std::vector<EndDifference> kept_;
  std::size_t every_ = 1;  // keeps one of so many
  std::size_t seen_ = 0;
};

}  // namespace sonde::engine::align
