// The tightest of many bounds over time: of all bounds only those are kept that a line can touch.
// A plain value; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sonde::engine::align {

// A message left its host at `sentNs`, by that host's clock, and had arrived `apartNs` later, by
// the clock of the other host. So the sender's clock is at most `apartNs` behind the receiver's.
struct Bound {
  std::int64_t sentNs;
  std::int64_t apartNs;
};

// Keeps the lower convex hull of its bounds, separately for each of some 64 to 129 stretches of
// time. So a line lies below all bounds of some stretches if it lies below those kept. Memory
// depends on the number of stretches, not on that of the bounds.
class Envelope {
 public:
  void add(const Bound& bound);
  // By time.
  const std::vector<Bound>& bounds();
  std::int64_t count() const noexcept { return count_; }  // of the bounds that were added

 private:
  void reduce();

  std::vector<Bound> kept_;
  std::size_t limit_ = 512;  // reduces when it has as many
  std::int64_t count_ = 0;
  bool isReduced_ = true;
};

}  // namespace sonde::engine::align
