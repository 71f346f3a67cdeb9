#include "analysis/engine/device/impossible_kernels.h"

#include "analysis/engine/models/kernels/device_peaks.h"
#include "analysis/engine/models/kernels/operator_times.h"
#include "analysis/store/read_rows.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

namespace sonde::engine::device {
namespace {

struct TimedKernel {
  std::int64_t id = 0;
  std::int64_t processId = 0;
  std::optional<std::int64_t> rank;
  std::int64_t pid = 0;
  std::int64_t streamId = 0;
  std::int64_t deviceId = 0;
  std::string deviceName;
  std::string capability;
  std::string name;
  std::int64_t startNs = 0;
  std::int64_t durNs = 0;
  std::optional<std::int64_t> graphId;
  std::optional<std::int64_t> launchedNs;

  SONDE_COLUMNS(id,
                processId,
                rank,
                pid,
                streamId,
                deviceId,
                deviceName,
                capability,
                name,
                startNs,
                durNs,
                graphId,
                launchedNs)
  std::int64_t endNs() const noexcept { return startNs + durNs; }
};

// By stream, then by begin.
constexpr std::string_view kTimedKernels =
    "SELECT k.id, s.process_id, p.rank, p.pid, k.stream_id, s.device_id, d.name AS device_name,"
    " d.capability,"
    " n.text AS name, k.start_ns, k.dur_ns, k.graph_id, l.start_ns + l.dur_ns AS launched_ns"
    " FROM kernel k JOIN stream s ON s.id = k.stream_id JOIN process p ON p.id = s.process_id"
    " JOIN string n ON n.id = k.name_id LEFT JOIN device d ON d.id = s.device_id"
    " LEFT JOIN slice l ON l.id = k.launch_slice_id WHERE k.dur_ns IS NOT NULL"
    " ORDER BY p.rank, s.process_id, k.stream_id, k.start_ns, k.id";

struct WaitCall {
  std::int64_t processId = 0;
  std::int64_t streamId = 0;  // 0: the whole device
  std::int64_t startNs = 0;
  std::int64_t endNs = 0;

  SONDE_COLUMNS(processId, streamId, startNs, endNs)
};
constexpr std::string_view kWaitCalls =
    "SELECT process_id, stream_id, start_ns, start_ns + dur_ns AS end_ns FROM sync WHERE kind IN"
    " ('stream', 'context') AND dur_ns IS NOT NULL ORDER BY start_ns";

struct UsedDevice {
  std::int64_t processId = 0;
  std::int64_t deviceId = 0;

  SONDE_COLUMNS(processId, deviceId)
};
constexpr std::string_view kUsedDevices =
    "SELECT DISTINCT process_id, device_id FROM stream WHERE id IN (SELECT stream_id FROM kernel)";

// When calls that waited for a stream, or for a process's only device, began and returned.
class WaitReturns {
 public:
  static Result<WaitReturns> read(const store::Database& trace) {
    WaitReturns waits;
    SONDE_TRY(store::forEach<UsedDevice>(trace, kUsedDevices, [&](const UsedDevice& row) {
      waits.devices_[row.processId].insert(row.deviceId);
    }));
    SONDE_TRY(store::forEach<WaitCall>(trace, kWaitCalls, [&](const WaitCall& wait) {
      waits.of_[{wait.processId, wait.streamId}].emplace_back(wait.startNs, wait.endNs);
    }));
    return waits;
  }

  // When the first call returned that began after the launch and waited for the kernel.
  std::optional<std::int64_t> returnOf(const TimedKernel& kernel) const {
    if (!kernel.launchedNs)
      return {};
    std::optional<std::int64_t> returned = after({kernel.processId, kernel.streamId}, kernel);
    if (devices_.at(kernel.processId).size() == 1)
      if (const auto ofDevice = after({kernel.processId, 0}, kernel))
        returned = std::min(returned.value_or(*ofDevice), *ofDevice);
    return returned;
  }

 private:
  using Key = std::pair<std::int64_t, std::int64_t>;  // process and stream
  std::optional<std::int64_t> after(const Key& key, const TimedKernel& kernel) const {
    const auto calls = of_.find(key);
    if (calls == of_.end())
      return {};
    const auto first = std::lower_bound(
        calls->second.begin(), calls->second.end(), std::pair(*kernel.launchedNs, std::int64_t{0}));
    return first == calls->second.end() ? std::nullopt : std::optional(first->second);
  }

  std::map<Key, std::vector<std::pair<std::int64_t, std::int64_t>>> of_;
  std::map<std::int64_t, std::set<std::int64_t>> devices_;  // of processes
};

// Operations a nanosecond; 0: unknown.
double peakFor(const models::OperatorWork& work, const models::DevicePeaks& peaks) {
  const double bytes = models::bytesOfType(work.type);
  if (bytes <= 0)
    return 0;
  if (bytes < 2)
    return 2 * peaks.half;
  if (bytes == 2 || peaks.tensorFloat <= 0)
    return peaks.half;
  return peaks.tensorFloat;
}

// The kernels of operators with known arithmetic.
class Arithmetic {
 public:
  static Result<Arithmetic> read(const store::Database& trace) {
    SONDE_TRY_ASSIGN(models::OperatorTimes times, models::readOperatorTimes(trace));
    if (!times.isOnDevice)
      return Arithmetic(std::move(times), {});
    SONDE_TRY_ASSIGN(OfKernel ofKernel, models::operatorsOfKernels(trace, times));
    return Arithmetic(std::move(times), std::move(ofKernel));
  }

  // How many times as fast as the peak of the device its operator was; unset: unknown.
  std::optional<double> speedOf(const TimedKernel& kernel) const {
    const auto at = ofKernel_.find(kernel.id);
    const models::DevicePeaks* peaks = models::knownDevice(kernel.deviceName);
    if (at == ofKernel_.end() || peaks == nullptr)
      return {};
    const models::OperatorTime& time = times_.operators[at->second];
    const bool isArithmetic = time.work.kind == models::KernelKind::Matrix ||
                              time.work.kind == models::KernelKind::Attention;
    const double peak = peakFor(time.work, *peaks);
    if (!isArithmetic || peak <= 0 || time.ns <= 0)
      return {};
    return time.work.flops / peak / time.ns;
  }

 private:
  using OfKernel = std::unordered_map<std::int64_t, std::size_t>;
  Arithmetic(models::OperatorTimes times, OfKernel ofKernel)
      : times_(std::move(times)), ofKernel_(std::move(ofKernel)) {}

  models::OperatorTimes times_;
  OfKernel ofKernel_;
};

// From Hopper on NVIDIA's devices may begin a kernel while the one before it ends (programmatic
// dependent launch), so an overlap says nothing there.
bool mayOverlap(const TimedKernel& kernel, const TimedKernel& next) {
  static constexpr std::array<std::string_view, 9> kNames = {
      "H100", "H200", "H800", "H20", "B100", "B200", "B300", "RTX 50", "GB10"};
  const bool isByName = std::any_of(kNames.begin(), kNames.end(), [&](std::string_view name) {
    return kernel.deviceName.find(name) != std::string::npos;
  });
  return isByName || std::strtol(kernel.capability.c_str(), nullptr, 10) >= 9 ||
         (kernel.graphId && next.graphId);
}

struct Judge {
  const WaitReturns& waits;
  const Arithmetic& arithmetic;
  const ImpossibleTolerance& tolerance;

  // `next`: of its stream; nullptr: none.
  void judge(const TimedKernel& kernel, const TimedKernel* next, ImpossibleKernels& found) const {
    std::array<bool, kImpossibilities> is{};
    const auto set = [&](Impossibility kind, bool value) {
      is[static_cast<std::size_t>(kind)] = value;
    };
    set(Impossibility::NoTime, kernel.durNs <= 0);
    set(Impossibility::Overlaps,
        next != nullptr && !mayOverlap(kernel, *next) &&
            kernel.endNs() - next->startNs > tolerance.overlapNs);
    if (const auto returned = waits.returnOf(kernel)) {
      ++found.waitedFor;
      set(Impossibility::Late, kernel.endNs() - *returned > tolerance.lateNs);
    }
    if (const auto speed = arithmetic.speedOf(kernel)) {
      ++found.compared;
      set(Impossibility::TooFast, *speed > tolerance.fasterThanPeak);
    }
    for (std::size_t kind = 0; kind < is.size(); ++kind)
      found.ofKind[kind] += is[kind] ? 1 : 0;
    if (std::none_of(is.begin(), is.end(), [](bool each) { return each; }))
      return;
    if (found.impossible++ == 0) {
      found.firstName = kernel.name;
      found.firstNs = kernel.startNs;
    }
  }
};

}  // namespace

std::string_view word(Impossibility kind) noexcept {
  static constexpr std::array<std::string_view, kImpossibilities> kWords = {
      "without time", "overlapping the next", "ending after a wait for them", "above the peak"};
  return kWords[static_cast<std::size_t>(kind)];
}

Result<std::vector<ImpossibleKernels>> impossibleKernels(const store::Database& trace,
                                                         const ImpossibleTolerance& tolerance) {
  SONDE_TRY_ASSIGN(const WaitReturns waits, WaitReturns::read(trace));
  SONDE_TRY_ASSIGN(const Arithmetic arithmetic, Arithmetic::read(trace));
  const Judge judge{waits, arithmetic, tolerance};
  std::vector<ImpossibleKernels> all;
  std::optional<TimedKernel> last;  // waits for the next one of its stream
  SONDE_TRY_ASSIGN(store::Statement rows, trace.prepare(kTimedKernels));
  SONDE_TRY(store::forEach<TimedKernel>(rows, [&](const TimedKernel& kernel) {
    if (last)
      judge.judge(*last, last->streamId == kernel.streamId ? &kernel : nullptr, all.back());
    if (all.empty() || all.back().processId != kernel.processId) {
      ImpossibleKernels& found = all.emplace_back();
      found.processId = kernel.processId;
      found.rank = kernel.rank;
      found.pid = kernel.pid;
    }
    ++all.back().kernels;
    last = kernel;
  }));
  if (last)
    judge.judge(*last, nullptr, all.back());
  return all;
}

}  // namespace sonde::engine::device
