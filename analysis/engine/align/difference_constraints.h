// Solves difference constraints: x[a] − x[b] ≤ limit. The highest value that x[n] can have is the
// length of the shortest path from the root to n (Cormen et al., Introduction to Algorithms, 22.4),
// and the lowest is that of the reversed graph with its sign changed. Plain values; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sonde::engine::align {

// x[one] − x[other] ≤ limit, in ns.
struct Constraint {
  std::uint32_t one;
  std::uint32_t other;
  double limit;
};

struct Range {
  double lowest;   // −infinity: not bounded
  double highest;  // infinity: not bounded

  bool isBounded() const noexcept;
  double centre() const noexcept { return (lowest + highest) / 2; }
  double halfWidth() const noexcept { return (highest - lowest) / 2; }
};

struct Ranges {
  // By variable, relative to variable 0. The centres satisfy all constraints together.
  std::vector<Range> ranges;
  // If they contradict each other: what all limits are raised by, at most 5 % more than necessary.
  double raisedBy = 0;
  // The constraints that contradict each other the most, as a cycle; empty: none does.
  std::vector<Constraint> contradiction;
};

// Contradictions among variables that nothing connects with variable 0 are not found.
Ranges solve(std::size_t variables, const std::vector<Constraint>& constraints);

}  // namespace sonde::engine::align
