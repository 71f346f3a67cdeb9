#include "analysis/engine/metrics/throughput.h"

#include "analysis/engine/models/kernels/device_peaks.h"
#include "analysis/store/statement.h"

#include <string_view>

namespace sonde::engine::metrics {
namespace {

Result<std::optional<double>> peakOf(const store::Database& trace, const RankProcess& rank) {
  SONDE_TRY_ASSIGN(store::Statement devices,
                   trace.prepare("SELECT DISTINCT d.id, d.name FROM stream s JOIN device d ON "
                                 "d.id = s.device_id WHERE s.process_id = ? AND d.kind = 'cuda' "
                                 "AND EXISTS (SELECT 1 FROM kernel k WHERE k.stream_id = s.id)"));
  devices.bindAll(rank.processId);
  std::optional<double> sum;
  while (true) {
    SONDE_TRY_ASSIGN(const bool more, devices.step());
    if (!more)
      return sum;
    const auto one = peakFlopsOf(devices.text(1));
    if (!one)
      return std::optional<double>();
    sum = sum.value_or(0) + *one;
  }
}

// Sums over the iterations with a known amount.
struct Sum {
  double amount = 0;
  std::int64_t ns = 0;

  void add(double more, std::int64_t durNs) {
    amount += more;
    ns += durNs;
  }
  std::optional<double> rate() const {
    return ns > 0 ? std::optional(amount / (static_cast<double>(ns) / 1e9)) : std::nullopt;
  }
};

}  // namespace

std::optional<double> peakFlopsOf(std::string_view device) {
  constexpr double kGiga = 1e9;
  const models::DevicePeaks* const known = models::knownDevice(device);
  return known == nullptr ? std::nullopt : std::optional(known->half * kGiga);
}

std::optional<std::int64_t> multiprocessorsOf(std::string_view device) {
  const models::DevicePeaks* const known = models::knownDevice(device);
  return known == nullptr ? std::nullopt : std::optional(known->multiprocessors);
}

Result<RankWork> workOf(const store::Database& trace,
                        const RankProcess& rank,
                        std::optional<double> peakFlops) {
  RankWork work;
  work.peakFlops = peakFlops;
  if (!peakFlops) {
    SONDE_TRY_ASSIGN(work.peakFlops, peakOf(trace, rank));
  }
  // Inner iterations come before the one around them.
  SONDE_TRY_ASSIGN(store::Statement rows,
                   trace.prepare("SELECT id, samples, tokens, flops FROM iteration WHERE "
                                 "process_id = ? ORDER BY start_ns DESC, dur_ns, id DESC"));
  rows.bindAll(rank.processId);
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      return work;
    WorkAmounts& own = work.ofIterations[rows.integer(0)];  // so far the sum of inner iterations
    for (std::size_t at = 0; at < own.size(); ++at)
      if (const int column = static_cast<int>(at) + 1; !rows.isNull(column))
        own[at] = rows.real(column);
    const auto holder = rank.holders.find(rows.integer(0));
    if (holder == rank.holders.end())
      continue;
    WorkAmounts& outer = work.ofIterations[holder->second];
    for (std::size_t at = 0; at < own.size(); ++at)
      if (own[at])
        outer[at] = outer[at].value_or(0) + *own[at];
  }
}

Throughput throughputOf(const RankProcess& rank, const RankWork& work, const Clock& clock) {
  Throughput found;
  found.rank = rank.rank;
  found.process = rank.name;
  found.iterations = static_cast<std::int64_t>(rank.iterations.size());
  std::array<Sum, kWorkAmounts> sums;
  for (const IterationTime& iteration : byClock(rank, clock).iterations)
    if (const auto of = work.ofIterations.find(iteration.id); of != work.ofIterations.end())
      for (std::size_t at = 0; at < sums.size(); ++at)
        if (const auto amount = of->second[at])
          sums[at].add(*amount, iteration.durNs);
  found.samplesPerSecond = sums[0].rate();
  found.tokensPerSecond = sums[1].rate();
  found.flopsPerSecond = sums[2].rate();
  found.peakFlops = work.peakFlops;
  if (found.flopsPerSecond && found.peakFlops)
    found.mfu = *found.flopsPerSecond / *found.peakFlops;
  return found;
}

}  // namespace sonde::engine::metrics
