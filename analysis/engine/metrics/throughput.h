// How much work a rank gets done: samples, tokens and floating point operations, and the share of
// what its devices could do. Plain values; reading uses the database's thread.
#pragma once

#include "analysis/base/result.h"
#include "analysis/engine/metrics/clock.h"
#include "analysis/engine/metrics/ranks.h"
#include "analysis/store/database.h"

#include <cstdint>
#include <optional>
#include <string>

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

// Of its iterations by `clock`; `rank` is as recorded. `peakFlops`: of a rank's devices together,
// where the user tells it; else what is known of the devices that it uses, by their names: dense
// matrix products of 16-bit floating point numbers.
Result<Throughput> throughputOf(const store::Database& trace,
                                const RankProcess& rank,
                                std::optional<double> peakFlops,
                                const Clock& clock = {});

// By the name that CUDA gives a device, a second; none: not in the table.
std::optional<double> peakFlopsOf(std::string_view device);
// How many multiprocessors it has, likewise.
std::optional<std::int64_t> multiprocessorsOf(std::string_view device);

}  // namespace sonde::engine::metrics
