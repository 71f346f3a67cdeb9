// Hosts whose clocks are known exactly, and messages between them. Messages take a least time and
// wait in queues for a random one. Plain values.
#pragma once

#include "analysis/engine/align/host_bounds.h"

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace sonde::test {

struct TrueClock {
  std::int64_t offsetNs = 0;  // at time 0; the clock is ahead by it
  double drift = 0;

  std::int64_t read(double trueNs) const {
    return std::llround(trueNs + drift * trueNs) + offsetNs + 1'700'000'000'000'000'000;
  }
};

class SimulatedHosts {
 public:
  explicit SimulatedHosts(std::vector<TrueClock> clocks, unsigned seed = 1)
      : clocks_(std::move(clocks)), random_(seed) {}

  // Clocks that are apart by up to `offsetNs` and `drift`; the first is right.
  static std::vector<TrueClock> clocks(std::size_t hosts, double offsetNs, double drift) {
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> share(-1, 1);
    std::vector<TrueClock> clocks(1);
    while (clocks.size() < hosts)
      clocks.push_back({std::llround(share(random) * offsetNs), share(random) * drift});
    return clocks;
  }

  // A message that leaves at `trueNs`.
  void send(engine::align::HostBounds& bounds,
            std::uint32_t from,
            std::uint32_t to,
            double trueNs) {
    const double delay = leastDelayNs + queueing_(random_) * meanQueueNs;
    bounds.addMessage(from, to, clocks_[from].read(trueNs), clocks_[to].read(trueNs + delay));
  }
  double uniform(double until) { return std::uniform_real_distribution<double>(0, until)(random_); }
  // The correction of a host at a time, relative to the first host.
  double correctionNs(std::uint32_t host, double trueNs) const {
    return static_cast<double>(clocks_[0].read(trueNs) - clocks_[host].read(trueNs));
  }
  const std::vector<TrueClock>& clocks() const { return clocks_; }

  double leastDelayNs = 30e3;
  double meanQueueNs = 50e3;

 private:
  std::vector<TrueClock> clocks_;
  std::mt19937_64 random_;
  std::exponential_distribution<double> queueing_{1};
};

}  // namespace sonde::test
