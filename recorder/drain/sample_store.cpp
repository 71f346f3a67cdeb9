#include "recorder/drain/sample_store.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sonde::recorder {
namespace {

// For times when the trace cannot be written: some minutes of a large machine.
constexpr std::size_t kMostReadings = 1 << 20;
constexpr std::int64_t kStoreEveryNs = 1'000'000'000;
// How long to wait for a process whose spool file is not found yet. A process without one is not
// recorded.
constexpr std::int64_t kWaitForImageNs = 5'000'000'000;

model::DeviceId deviceOf(ingest::RowSink& sink, model::HostId host, const system::Metric& metric) {
  auto rows =
      sink.writer().database().prepare("SELECT id FROM device WHERE host_id = ?1 AND uuid = ?2");
  if (rows) {
    const auto found = rows->bindAll(host, std::string_view(metric.deviceUuid)).step();
    if (found && *found)
      return rows->id<model::DeviceId>(0);
  }
  model::Device row;
  row.hostId = host;
  row.kind = "gpu";
  row.ordinal = metric.deviceOrdinal;
  row.uuid = metric.deviceUuid;
  return sink.add(row);
}

}  // namespace

void SampleStore::add(system::Batch batch) {
  for (system::Metric& metric : batch.metrics)
    counters_.push_back({std::move(metric), {}, false});
  lost_ += batch.lost;
  if (isGivenUp_ || readings_.size() >= kMostReadings)
    lost_ += batch.readings.size();
  else
    readings_.insert(readings_.end(), batch.readings.begin(), batch.readings.end());
}

bool SampleStore::isDue() const noexcept {
  return !readings_.empty() &&
         readings_.back().monotonicNs - readings_.front().monotonicNs >= kStoreEveryNs;
}

void SampleStore::forgetBefore(std::int64_t ns) {
  std::vector<char> seen(counters_.size());  // vector<bool> has no references to exchange
  const auto isOld = [&](const system::Reading& reading) {
    return reading.monotonicNs < ns && std::exchange(seen[reading.metric], 1) != 0;
  };
  std::reverse(readings_.begin(), readings_.end());  // the last one is seen first
  readings_.erase(std::remove_if(readings_.begin(), readings_.end(), isOld), readings_.end());
  std::reverse(readings_.begin(), readings_.end());
}

void SampleStore::giveUp() noexcept {
  isGivenUp_ = true;
  lost_ += readings_.size();
  readings_.clear();
}

Result<void> SampleStore::store(ImageSet& images, TraceRecorder& trace) {
  SONDE_TRY_ASSIGN(const TraceRecorder::Host* const host, trace.ownHost());
  if (host == nullptr)
    return {};
  isStored_ = true;
  waiting_.clear();
  for (const system::Reading& reading : readings_) {
    const std::int64_t ns = host->epochNs + reading.monotonicNs;
    const model::CounterId counter =
        counterOf(counters_[reading.metric], ns, images, trace, host->id);
    if (counter)
      trace.sink().add(model::Sample{counter, ns, reading.value});
    else if (readings_.back().monotonicNs - reading.monotonicNs < kWaitForImageNs)
      waiting_.push_back(reading);
  }
  if (lost_ > 0)
    trace.sink().add(
        model::Loss{"system", "sample", static_cast<std::int64_t>(lost_), "output full", {}});
  return {};
}

model::CounterId SampleStore::counterOf(Counter& counter,
                                        std::int64_t ns,
                                        ImageSet& images,
                                        TraceRecorder& trace,
                                        model::HostId host) const {
  if (counter.id)
    return counter.id;
  const system::Metric& metric = counter.metric;
  ingest::RowSink& sink = trace.sink();
  model::Counter row;
  row.hostId = host;
  if (metric.pid != 0) {
    const ImageId image{metric.pid, metric.startTime, metric.execCount};
    row.processId = images.processOf(image);
    if (!row.processId)
      return {};
    if (metric.tid != 0)
      row.threadId = images.threadOf(image, metric.tid, ns, sink);
  }
  if (!metric.deviceUuid.empty())
    row.deviceId = deviceOf(sink, host, metric);
  row.nameId = sink.intern(metric.name);
  row.unit = metric.unit;
  row.kind = metric.isTotal ? model::CounterKind::Total : model::CounterKind::Gauge;
  counter.id = sink.add(row);
  counter.isUncommitted = true;
  return counter.id;
}

void SampleStore::committed() {
  if (!std::exchange(isStored_, false))
    return;
  readings_ = std::exchange(waiting_, {});
  lost_ = 0;
  for (Counter& counter : counters_)
    counter.isUncommitted = false;
}

void SampleStore::rolledBack() {
  isStored_ = false;
  for (Counter& counter : counters_) {
    if (std::exchange(counter.isUncommitted, false))
      counter.id = {};
  }
}

void SampleStore::begunAnew() {
  for (Counter& counter : counters_)
    counter.id = {};
}

}  // namespace sonde::recorder
