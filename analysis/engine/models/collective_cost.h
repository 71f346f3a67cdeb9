// The work of a collective, by which its time is modelled. Plain values; any thread.
#pragma once

#include <cstdint>
#include <string>

namespace sonde::engine::models {

// A ring of n ranks takes s steps, each of which moves 1/n of the bytes: s = 2 (n - 1) for an
// all-reduce, n - 1 for all-gathers, reduce-scatters and all-to-alls. Other operations count as
// n - 1 steps that move all bytes together once.
struct CollectiveCost {
  double steps = 0;
  double bytes = 0;  // that a rank sends in all steps
  double calls = 0;
  double payload = 0;  // bytes of the buffer

  CollectiveCost& operator+=(const CollectiveCost& other) noexcept {
    steps += other.steps;
    bytes += other.bytes;
    calls += other.calls;
    payload += other.payload;
    return *this;
  }
};

// `op` is the collective's word, such as "allreduce"; `bytes` are those of the buffer. One
// rank alone has no cost.
CollectiveCost costOf(const std::string& op, std::int64_t bytes, std::int64_t ranks);

}  // namespace sonde::engine::models
