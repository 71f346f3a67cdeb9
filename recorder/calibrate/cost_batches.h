// How the programs that make calls which Sonde records (cost_program.h, cuda_cost_program.h) time
// them: in batches, in turns with batches of nothing but work.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>

namespace sonde::recorder::cost {

inline constexpr int kBatches = 24;
inline constexpr int kCalls = 150;  // of one batch

// What a program does between two calls: its code and data take the caches.
inline void work() {
  static std::array<unsigned char, 16 << 10> data{};
  for (std::size_t at = 0; at < data.size(); at += 64)
    ++data[at];
  asm volatile("" : : "r"(data.data()) : "memory");
}

template <typename Body>
double nsOfBatch(Body body) {
  const auto begin = std::chrono::steady_clock::now();
  for (int call = 0; call < kCalls; ++call)
    body();
  const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - begin;
  return spent.count() / kCalls;
}

// How much longer work takes with the calls, the one in turns with the other; `settle` ends each
// batch, untimed. The lower quartile of the batches: what disturbs one makes it longer, never
// shorter.
template <std::size_t Batches = kBatches, typename Body, typename Settle>
double nsOf(Body body, Settle settle) {
  std::array<double, Batches> alone{};
  std::array<double, Batches> with{};
  for (std::size_t batch = 0; batch < Batches; ++batch) {
    alone[batch] = nsOfBatch(work);
    with[batch] = nsOfBatch([&] {
      body();
      work();
    });
    settle();
  }
  std::sort(alone.begin(), alone.end());
  std::sort(with.begin(), with.end());
  return with[Batches / 4] - alone[Batches / 4];
}

template <std::size_t Batches = kBatches, typename Body>
double nsOf(Body body) {
  return nsOf<Batches>(body, [] {});
}

// To stdout.
inline void print(const char* probe, const char* api, double ns) {
  std::printf("%s|%s|%.3f\n", probe, api, ns);
}

}  // namespace sonde::recorder::cost
