#include "analysis/engine/metrics/throughput.h"

#include "analysis/store/statement.h"

#include <array>
#include <string_view>
#include <unordered_map>

namespace sonde::engine::metrics {
namespace {

// Dense, with sums in 32 bits: bfloat16 where the device has it, else half. NVIDIA's data sheets of
// each; where one has 989.4, that is 989.4e12. The longest part of a name that fits decides.
struct KnownDevice {
  std::string_view part;
  double flops;
  std::int64_t multiprocessors;  // that are switched on, as CUDA counts them
};
constexpr KnownDevice kDevices[] = {
    {"GB200", 2500e12, 148},  {"B200", 2250e12, 148},     {"H200", 989.4e12, 132},
    {"GH200", 989.4e12, 132}, {"H100 PCIe", 756e12, 114}, {"H100 NVL", 835e12, 132},
    {"H100", 989.4e12, 132},  {"H800", 989.4e12, 132},    {"H20", 148e12, 78},
    {"A100", 312e12, 108},    {"A800", 312e12, 108},      {"A40", 149.7e12, 84},
    {"A30", 165e12, 56},      {"A10G", 70e12, 80},        {"A10", 125e12, 72},
    {"L40S", 362.1e12, 142},  {"L40", 181e12, 142},       {"L4", 121e12, 58},
    {"V100", 125e12, 80},     {"T4", 65e12, 40},          {"RTX 4090", 165.2e12, 128},
    {"RTX 3090", 71e12, 82}};

const KnownDevice* knownDevice(std::string_view device) {
  const KnownDevice* best = nullptr;
  for (const KnownDevice& known : kDevices) {
    const auto at = device.find(known.part);
    if (at == std::string_view::npos)
      continue;
    const std::size_t end = at + known.part.size();
    const bool isWord = (at == 0 || device[at - 1] == ' ') &&
                        (end == device.size() || device[end] == ' ' || device[end] == '-');
    if (isWord && (best == nullptr || known.part.size() > best->part.size()))
      best = &known;
  }
  return best;
}

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

// Of those iterations of which it is known.
struct Work {
  double sum = 0;
  std::int64_t ns = 0;

  void add(double amount, std::int64_t durNs) {
    sum += amount;
    ns += durNs;
  }
  std::optional<double> rate() const {
    return ns > 0 ? std::optional(sum / (static_cast<double>(ns) / 1e9)) : std::nullopt;
  }
};

}  // namespace

std::optional<double> peakFlopsOf(std::string_view device) {
  const KnownDevice* const known = knownDevice(device);
  return known == nullptr ? std::nullopt : std::optional(known->flops);
}

std::optional<std::int64_t> multiprocessorsOf(std::string_view device) {
  const KnownDevice* const known = knownDevice(device);
  return known == nullptr ? std::nullopt : std::optional(known->multiprocessors);
}

namespace {

constexpr std::size_t kAmounts = 3;  // samples, tokens, operations of floating point
using Amounts = std::array<std::optional<double>, kAmounts>;

// What is known of the work of an outermost iteration. Its own floating point operations are those
// of the ones within it, too.
struct Told {
  Amounts own;
  Amounts within;  // by all iterations in it together

  std::optional<double> of(std::size_t amount) const {
    return own[amount] ? own[amount] : within[amount];
  }
};

// By the iteration's id.
Result<std::unordered_map<std::int64_t, Told>> readTold(const store::Database& trace,
                                                        const RankProcess& rank) {
  SONDE_TRY_ASSIGN(
      store::Statement rows,
      trace.prepare("SELECT id, samples, tokens, flops FROM iteration WHERE process_id = ?"));
  rows.bindAll(rank.processId);
  std::unordered_map<std::int64_t, Told> told;
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      return told;
    const auto outermost = rank.outermostOf.find(rows.integer(0));
    const bool isInner = outermost != rank.outermostOf.end();
    Told& of = told[isInner ? outermost->second : rows.integer(0)];
    Amounts& into = isInner ? of.within : of.own;
    for (std::size_t at = 0; at < kAmounts; ++at)
      if (const int column = static_cast<int>(at) + 1; !rows.isNull(column))
        into[at] = into[at].value_or(0) + rows.real(column);
  }
}

}  // namespace

Result<Throughput> throughputOf(const store::Database& trace,
                                const RankProcess& rank,
                                std::optional<double> peakFlops,
                                const Clock& clock) {
  SONDE_TRY_ASSIGN(const auto told, readTold(trace, rank));
  Throughput found;
  found.rank = rank.rank;
  found.process = rank.name;
  found.iterations = static_cast<std::int64_t>(rank.iterations.size());
  std::array<Work, kAmounts> work;
  for (const IterationTime& iteration : byClock(rank, clock).iterations)
    if (const auto of = told.find(iteration.id); of != told.end())
      for (std::size_t at = 0; at < kAmounts; ++at)
        if (const auto amount = of->second.of(at))
          work[at].add(*amount, iteration.durNs);
  found.samplesPerSecond = work[0].rate();
  found.tokensPerSecond = work[1].rate();
  found.flopsPerSecond = work[2].rate();
  found.peakFlops = peakFlops;
  if (!found.peakFlops) {
    SONDE_TRY_ASSIGN(found.peakFlops, peakOf(trace, rank));
  }
  if (found.flopsPerSecond && found.peakFlops)
    found.mfu = *found.flopsPerSecond / *found.peakFlops;
  return found;
}

}  // namespace sonde::engine::metrics
