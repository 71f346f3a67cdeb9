// How much work a rank gets done: samples, tokens and floating point operations, and the share of
// what its devices could do. Plain values; reading uses the database's thread.
#pragma once

#include "analysis/engine/metrics/clock.h"
#include "analysis/engine/metrics/ranks.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace sonde::engine::metrics {

// None: of no iteration known. Rates are per second of the iterations of which it is.
struct Throughput {
  std::optional<std::int64_t> rank;
  std::string process;  // "rank 3", or "process 4711"
  std::int64_t iterations = 0;
  std::optional<double> samplesPerSecond;
  std::optional<double> tokensPerSecond;
  std::optional<double> flopsPerSecond;
  std::optional<double> peakFlops;  // a second, of all its devices
  // Model FLOPs utilisation, of the peak: PaLM (Chowdhery et al., 2022), appendix B.
  std::optional<double> mfu;
};

inline constexpr std::size_t kWorkAmounts = 3;  // samples, tokens, operations of floating point
using WorkAmounts = std::array<std::optional<double>, kWorkAmounts>;

struct RankWork {
  // By the iteration's id: its own, and where that is not known that of those directly within it.
  std::unordered_map<std::int64_t, WorkAmounts> ofIterations;
  std::optional<double> peakFlops;  // a second, of all its devices
};

// `peakFlops`: of a rank's devices together, where the user tells it; else what is known of the
// devices that it uses, by their names: dense matrix products of 16-bit floating point numbers.
Result<RankWork> workOf(const store::Database& trace,
                        const RankProcess& rank,
                        std::optional<double> peakFlops);

// Of its iterations by `clock`; `rank` is as recorded.
Throughput throughputOf(const RankProcess& rank, const RankWork& work, const Clock& clock = {});

// By the name that CUDA gives a device, a second; none: not in the table.
std::optional<double> peakFlopsOf(std::string_view device);
// How many multiprocessors it has, likewise.
std::optional<std::int64_t> multiprocessorsOf(std::string_view device);

}  // namespace sonde::engine::metrics
