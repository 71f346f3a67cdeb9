// How the cost programs (cost_program.h, cuda_cost_program.h) time calls that Sonde records: in
// batches, alternating with batches that only do work.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>

namespace sonde::recorder::cost {

inline constexpr int kBatches = 24;
inline constexpr int kCalls = 150;  // of one batch

// The work between two calls, whose code and data occupy the caches.
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

// Returns how much longer work takes with the calls. Batches with and without calls alternate;
// `settle` ends each pair, untimed. Uses the lower quartile of the batches: a disturbance only
// makes a batch longer.
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

// Prints to stdout.
inline void print(const char* probe, const char* api, double ns) {
  std::printf("%s|%s|%.3f\n", probe, api, ns);
}

}  // namespace sonde::recorder::cost
