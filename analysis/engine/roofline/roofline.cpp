#include "analysis/engine/roofline/roofline.h"

#include "analysis/engine/intervals/time_range.h"
#include "analysis/engine/models/kernels/device_peaks.h"
#include "analysis/engine/models/kernels/operator_inputs.h"
#include "analysis/engine/models/kernels/operator_times.h"
#include "analysis/engine/roofline/counted_points.h"
#include "analysis/store/read_rows.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace sonde::engine::roofline {
namespace {

using models::DevicePeaks;
using models::KernelKind;
using models::OperatorTimes;
using models::OperatorWork;

constexpr double kNsPerSecond = 1e9;

struct KernelRow {
  std::int64_t id = 0;
  std::string name;
  std::string device;
  std::int64_t startNs = 0;
  std::int64_t durNs = 0;

  SONDE_COLUMNS(id, name, device, startNs, durNs)
};
constexpr std::string_view kKernels =
    "SELECT k.id, k.name, coalesce(d.name, 'device') AS device, k.start_ns, k.dur_ns FROM v_kernel "
    "k JOIN stream s ON s.id = k.stream_id LEFT JOIN device d ON d.id = s.device_id WHERE k.dur_ns "
    "> 0 AND k.id NOT IN (SELECT kernel_id FROM collective WHERE kernel_id NOTNULL)";

struct SliceRow {
  std::int64_t id = 0;
  std::string device;
  std::int64_t startNs = 0;
  std::int64_t durNs = 0;

  SONDE_COLUMNS(id, device, startNs, durNs)
};
constexpr std::string_view kOperators =
    "SELECT v.id, coalesce(h.cpu_model, h.name, 'processor') AS device, v.start_ns, v.dur_ns FROM "
    "v_slice v JOIN process p ON p.id = v.process_id JOIN host h ON h.id = p.host_id WHERE v.kind "
    "= 'operator' AND v.dur_ns > 0";

// The operations per second of a piece of work; 0: unknown.
std::pair<std::string, double> peakOf(const DevicePeaks& peaks,
                                      const OperatorWork& work,
                                      std::string_view kernel) {
  const double bytes = models::bytesOfType(work.type);
  if (work.kind == KernelKind::Memory || bytes > 4)
    return {"numbers of 4 bytes", peaks.single};
  if (bytes > 0 && bytes < 2)
    return {"products of 1-byte numbers", 2 * peaks.half};
  if (bytes == 2)
    return {"products of 2-byte numbers", peaks.half};
  return kernel.find("tf32") != std::string_view::npos
             ? std::pair<std::string, double>{"products of TF32 numbers", peaks.tensorFloat}
             : std::pair<std::string, double>{"numbers of 4 bytes", peaks.single};
}

// The operator's kernels in one, or the operator itself.
struct Launched {
  std::string device;
  std::string kernel;
  metrics::Interval longest{};
  double ns = 0;          // of all of them
  bool isWithin = false;  // one of them shares time with the range

  void add(const std::string& on, const std::string& name, metrics::Interval time) {
    ns += static_cast<double>(time.end - time.begin);
    if (time.end - time.begin <= longest.end - longest.begin)
      return;
    device = on;
    kernel = name;
    longest = time;
  }
};

class Gathering {
 public:
  void add(const models::OperatorTime& time, const Launched& launched, bool isHost) {
    using Key = std::tuple<std::string, std::string, std::string>;
    DeviceRoofline& device = deviceOf(launched.device, isHost);
    auto& points = places_[launched.device];
    const auto [at, isNew] = points.try_emplace(Key{launched.kernel, time.work.op, time.work.type},
                                                device.points.size());
    if (isNew)
      addPoint(device, time, launched);
    RooflinePoint& point = device.points[at->second];
    ++point.count;
    point.ns += time.ns;
    point.flops += time.work.flops;
    point.bytes += time.work.bytes;
    if (launched.longest.end - launched.longest.begin > point.longest.end - point.longest.begin)
      point.longest = launched.longest;
  }
  void add(CountedPoint counted) {
    DeviceRoofline& device = deviceOf(counted.device, false);
    if (const DevicePeaks* peaks = models::peaksOfDevice(counted.device)) {
      const bool isTensor = counted.usesTensorCores;
      setPeak(device,
              counted.point,
              isTensor ? "products of 2-byte numbers" : "numbers of 4 bytes",
              isTensor ? peaks->half : peaks->single);
    }
    device.points.push_back(std::move(counted.point));
  }
  void addKernelTime(const std::string& device, double ns) { kernelNs_[device] += ns; }

  std::vector<DeviceRoofline> finish() {
    std::vector<DeviceRoofline> all;
    for (auto& [name, device] : devices_) {
      device.kernelNs = kernelNs_[name];
      std::sort(device.roofs.begin(), device.roofs.end(), [](const Roof& a, const Roof& b) {
        return a.flopsPerSecond > b.flopsPerSecond;
      });
      std::stable_sort(device.points.begin(),
                       device.points.end(),
                       [](const RooflinePoint& a, const RooflinePoint& b) { return a.ns > b.ns; });
      all.push_back(std::move(device));
    }
    return all;
  }

 private:
  DeviceRoofline& deviceOf(const std::string& name, bool isHost) {
    const auto [at, isNew] = devices_.try_emplace(name);
    if (isNew) {
      at->second.device = name;
      at->second.isHost = isHost;
      const DevicePeaks* const peaks = isHost ? nullptr : models::peaksOfDevice(name);
      at->second.bytesPerSecond = peaks == nullptr ? 0 : peaks->bandwidth * kNsPerSecond;
    }
    return at->second;
  }
  void addPoint(DeviceRoofline& device,
                const models::OperatorTime& time,
                const Launched& launched) {
    RooflinePoint point;
    point.kernel = launched.kernel;
    point.operation = time.work.op;
    point.type = time.work.type;
    if (device.bytesPerSecond > 0) {
      const auto [name, peak] =
          peakOf(*models::peaksOfDevice(device.device), time.work, launched.kernel);
      setPeak(device, point, name, peak);
    }
    device.points.push_back(std::move(point));
  }
  static void setPeak(DeviceRoofline& device,
                      RooflinePoint& point,
                      const std::string& name,
                      double flopsPerNs) {
    point.peakFlops = flopsPerNs * kNsPerSecond;
    point.peakBytes = device.bytesPerSecond;
    const bool isKnown = std::any_of(
        device.roofs.begin(), device.roofs.end(), [&](const Roof& of) { return of.name == name; });
    if (!isKnown && flopsPerNs > 0)
      device.roofs.push_back({name, point.peakFlops});
  }

  std::map<std::string, DeviceRoofline> devices_;
  std::map<std::string, double> kernelNs_;
  std::map<std::string, std::map<std::tuple<std::string, std::string, std::string>, std::size_t>>
      places_;  // of points, by device
};

Result<void> addKernels(const store::Database& trace,
                        const OperatorTimes& times,
                        const std::optional<metrics::Interval>& within,
                        Gathering& gathering) {
  SONDE_TRY_ASSIGN(const auto operators, models::operatorsOfKernels(trace, times));
  std::vector<Launched> launched(times.operators.size());
  SONDE_TRY(store::forEach<KernelRow>(trace, kKernels, [&](const KernelRow& row) {
    const metrics::Interval time{row.startNs, row.startNs + row.durNs};
    const bool isWithin = metrics::sharesTime(time, within);
    if (const auto found = operators.find(row.id); found != operators.end()) {
      launched[found->second].add(row.device, row.name, time);
      launched[found->second].isWithin |= isWithin;
    } else if (isWithin) {
      gathering.addKernelTime(row.device, static_cast<double>(row.durNs));
    }
  }));
  for (std::size_t at = 0; at < launched.size(); ++at)
    if (launched[at].isWithin) {
      gathering.addKernelTime(launched[at].device, launched[at].ns);
      gathering.add(times.operators[at], launched[at], false);
    }
  return {};
}

Result<void> addOperators(const store::Database& trace,
                          const OperatorTimes& times,
                          const std::optional<metrics::Interval>& within,
                          Gathering& gathering) {
  std::unordered_map<std::int64_t, std::size_t> places;
  for (std::size_t at = 0; at < times.operators.size(); ++at)
    places[times.operators[at].slice] = at;
  if (places.empty())
    return {};
  return store::forEach<SliceRow>(trace, kOperators, [&](const SliceRow& row) {
    const auto found = places.find(row.id);
    const metrics::Interval time{row.startNs, row.startNs + row.durNs};
    if (found == places.end() || !metrics::sharesTime(time, within))
      return;
    Launched launched;
    launched.add(row.device, "", time);
    gathering.add(times.operators[found->second], launched, true);
  });
}

}  // namespace

double RooflinePoint::roof() const noexcept {
  if (peakFlops <= 0 || peakBytes <= 0)
    return 0;
  return std::min(peakFlops, intensity() * peakBytes);
}

std::optional<double> RooflinePoint::share() const noexcept {
  if (peakFlops <= 0 || peakBytes <= 0)
    return std::nullopt;
  // Without operations, that of the bandwidth.
  return roof() > 0 ? flopsPerSecond() / roof() : bytesPerSecond() / peakBytes;
}

Bound RooflinePoint::bound() const noexcept {
  const auto reached = share();
  if (!reached)
    return Bound::Unknown;
  if (*reached < kLatencyShare)
    return Bound::Latency;
  return intensity() * peakBytes < peakFlops ? Bound::Memory : Bound::Compute;
}

Result<std::vector<DeviceRoofline>> readRooflines(const store::Database& trace,
                                                  const std::optional<metrics::Interval>& within) {
  Gathering gathering;
  SONDE_TRY_ASSIGN(const OperatorTimes times, models::readOperatorTimes(trace));
  if (times.isOnDevice)
    SONDE_TRY(addKernels(trace, times, within, gathering));
  else
    SONDE_TRY(addOperators(trace, times, within, gathering));
  SONDE_TRY_ASSIGN(std::vector<CountedPoint> counted, countedPoints(trace, within));
  for (CountedPoint& each : counted)
    gathering.add(std::move(each));
  return gathering.finish();
}

}  // namespace sonde::engine::roofline
