// The work that a rank completes: samples, tokens and floating point operations, and the share of
// its devices' peak. Plain values; reading uses the database's thread.
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

// Unset: known for no iteration. Rates are per second of the iterations with a known amount.
struct Throughput {
  std::optional<std::int64_t> rank;
  std::string process;  // "rank 3", or "process 4711"
  std::int64_t iterations = 0;
  std::optional<double> samplesPerSecond;
  std::optional<double> tokensPerSecond;
  std::optional<double> flopsPerSecond;
  std::optional<double> peakFlops;  // per second, sum over its devices
  // Model FLOPs utilisation, relative to the peak: PaLM (Chowdhery et al., 2022), appendix B.
  std::optional<double> mfu;
};

inline constexpr std::size_t kWorkAmounts = 3;  // samples, tokens, floating point operations
using WorkAmounts = std::array<std::optional<double>, kWorkAmounts>;

struct RankWork {
  // By the iteration's id: its own amount; if unknown, the sum of those directly inside it.
  std::unordered_map<std::int64_t, WorkAmounts> ofIterations;
  std::optional<double> peakFlops;  // per second, sum over its devices
};

// `peakFlops`: the user's value for all devices of a rank. If unset, uses the known peaks of its
// devices by name, for dense 16-bit floating point matrix products.
Result<RankWork> workOf(const store::Database& trace,
                        const RankProcess& rank,
                        std::optional<double> peakFlops);

// Uses the lengths of its iterations by `clock`; `rank` is as recorded.
Throughput throughputOf(const RankProcess& rank, const RankWork& work, const Clock& clock = {});

// Per second, by CUDA's name of the device; unset: not in the table.
std::optional<double> peakFlopsOf(std::string_view device);
// The number of multiprocessors, likewise.
std::optional<std::int64_t> multiprocessorsOf(std::string_view device);

}  // namespace sonde::engine::metrics
