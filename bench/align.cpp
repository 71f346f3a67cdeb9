// Measures the alignment of clocks. Usage:
//   align HOSTS MESSAGES NEIGHBOURS   each host sends so many messages, to so many other hosts
// Clocks are apart by up to 10 ms and 50 ppm. In ten minutes, messages take 30 µs and wait for 50
// µs on average. Prints how long it takes to add the messages and to fit the clocks, and the worst
// errors.
#include "analysis/engine/align/fitted_clocks.h"
#include "tests/engine/align/simulated_hosts.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

using namespace sonde;
using engine::align::FittedClock;
using engine::align::FittedClocks;
using engine::align::HostBounds;

constexpr double kUntilNs = 600e9;

struct Message {
  std::uint32_t from;
  std::uint32_t to;
  std::int64_t sentNs;
  std::int64_t receivedNs;
};

// In the order of time for each sender, as records are.
std::vector<Message> messagesOf(const std::vector<test::TrueClock>& clocks,
                                int messages,
                                std::uint32_t neighbours) {
  std::mt19937_64 random(5);
  std::exponential_distribution<double> queueing(1);
  std::vector<Message> all;
  const auto hosts = static_cast<std::uint32_t>(clocks.size());
  for (std::uint32_t from = 0; from < hosts; ++from)
    for (int each = 0; each < messages; ++each) {
      const auto step = static_cast<std::uint32_t>(random() % (neighbours / 2 + 1)) + 1;
      const std::uint32_t to = (from + (random() % 2 == 0 ? step : hosts - step)) % hosts;
      const double at = kUntilNs * each / messages;
      all.push_back(
          {from, to, clocks[from].read(at), clocks[to].read(at + 30e3 + 50e3 * queueing(random))});
    }
  return all;
}

void printErrors(const FittedClocks& fits, const std::vector<test::TrueClock>& clocks) {
  double offset = 0;
  double drift = 0;
  std::int64_t halfWidth = 0;
  for (std::size_t host = 0; host < clocks.size(); ++host) {
    const FittedClock& clock = fits.hosts[host];
    if (clock.pieces.size() != 1) {
      std::printf("host %zu has %zu pieces\n", host, clock.pieces.size());
      continue;
    }
    const auto& piece = clock.pieces[0];
    for (const double at : {0.0, kUntilNs}) {
      const std::int64_t read = clocks[host].read(at);
      const double found = static_cast<double>(piece.offsetNs) +
                           static_cast<double>(read - piece.fromNs) * piece.drift;
      offset = std::max(offset, std::abs(found - static_cast<double>(clocks[0].read(at) - read)));
    }
    drift = std::max(drift, std::abs(piece.drift + clocks[host].drift));
    halfWidth = std::max(halfWidth, clock.errorNs);
  }
  std::printf("worst error: %.1f µs, %.4f ppm; half range %.1f µs\n",
              offset / 1e3,
              drift * 1e6,
              static_cast<double>(halfWidth) / 1e3);
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) {
    std::fprintf(stderr, "usage: align HOSTS MESSAGES NEIGHBOURS\n");
    return 2;
  }
  const auto hosts = static_cast<std::size_t>(std::atoll(words[1]));
  const auto clocks = test::SimulatedHosts::clocks(hosts, 10e6, 50e-6);
  const auto messages =
      messagesOf(clocks, std::atoi(words[2]), static_cast<std::uint32_t>(std::atoi(words[3])));
  const auto begin = std::chrono::steady_clock::now();
  HostBounds bounds(hosts);
  for (const Message& each : messages)
    bounds.addMessage(each.from, each.to, each.sentNs, each.receivedNs);
  const auto added = std::chrono::steady_clock::now();
  const FittedClocks fits = engine::align::fitClocks(bounds);
  const auto fitted = std::chrono::steady_clock::now();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf(
      "%zu messages: adding %.2f s, fitting %.2f s; at most %ld MiB, of them %zu the messages\n",
      messages.size(),
      std::chrono::duration<double>(added - begin).count(),
      std::chrono::duration<double>(fitted - added).count(),
      usage.ru_maxrss / 1024,
      messages.capacity() * sizeof(Message) >> 20U);
  printErrors(fits, clocks);
  return 0;
}
