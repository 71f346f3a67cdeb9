#include "analysis/ingest/import/device_events.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

namespace sonde::ingest {
namespace {

constexpr std::size_t kDeviceRecordsInMemory = 120'000;  // 40 MB
constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();

const model::DeviceWork& workOf(const DeviceEvents::Work& work) {
  return std::visit([](const auto& row) -> const model::DeviceWork& { return row.work; }, work);
}

// Walks through the launches in step with the events, which have the same order.
class LaunchCursor {
 public:
  explicit LaunchCursor(HostSlices& slices) : slices_(slices) {}

  Result<void> begin() { return advance(); }

  struct Found {
    std::optional<Launch> launch;
    bool isAmbiguous = false;
  };
  // Requires: ascending keys; for one key ordered by begin.
  Result<Found> find(const LaunchKey& key, std::int64_t startNs) {
    if (key != key_)
      SONDE_TRY(gather(key));
    if (candidates_.empty())
      return Found{};
    if (!key.isShared())
      return byOwner(startNs);
    const std::size_t last = candidates_.size() - 1;
    return Found{candidates_[std::min(taken_++, last)]};
  }

 private:
  // Reads the calls with this key: all of them for an external id, else the first of each process.
  Result<void> gather(const LaunchKey& key) {
    key_ = key;
    taken_ = 0;
    candidates_.clear();
    while (has_ && launch_.key < key)
      SONDE_TRY(advance());
    for (; has_ && launch_.key == key;) {
      if (isWanted())
        candidates_.push_back(launch_);
      SONDE_TRY(advance());
    }
    return {};
  }

  bool isWanted() const {
    if (launch_.key.isShared())  // an operator only if it has no call
      return launch_.slice != 0 || candidates_.empty();
    constexpr std::size_t kMostProcesses = 1024;
    return candidates_.size() < kMostProcesses &&
           std::none_of(candidates_.begin(), candidates_.end(), [&](const Launch& each) {
             return each.owner == launch_.owner;
           });
  }

  Found byOwner(std::int64_t startNs) const {
    if (candidates_.size() == 1)
      return Found{candidates_.front()};
    const Launch* before = nullptr;
    for (const Launch& each : candidates_) {
      if (each.startNs > startNs)
        continue;
      if (before != nullptr)
        return Found{{}, true};
      before = &each;
    }
    return before == nullptr ? Found{{}, true} : Found{*before};
  }

  Result<void> advance() {
    SONDE_TRY_ASSIGN(has_, slices_.nextLaunch(launch_));
    return {};
  }

  HostSlices& slices_;
  Launch launch_{};
  bool has_ = false;
  LaunchKey key_{};
  std::vector<Launch> candidates_;  // with the key
  std::size_t taken_ = 0;           // of them, those already returned
};

struct Store {
  store::TraceWriter& writer;
  std::int64_t shiftNs;
  const std::optional<Launch>& launch;

  void complete(model::DeviceWork& work) const {
    work.startNs += shiftNs;
    if (!launch)
      return;
    if (launch->slice != 0) {
      work.launchSliceId = model::SliceId{launch->slice};
      work.launchDelayNs = work.startNs - shiftNs - launch->startNs;
    }
    work.scopeId = model::SliceId{launch->scope};
  }
  Result<void> operator()(model::Kernel& row) const {
    complete(row.work);
    SONDE_TRY(writer.add(row));
    return {};
  }
  Result<void> operator()(model::Copy& row) const {
    complete(row.work);
    SONDE_TRY(writer.add(row));
    return {};
  }
};

}  // namespace

bool DeviceEvents::ByLaunch::operator()(const Staged& a, const Staged& b) const noexcept {
  if (a.key != b.key)
    return a.key < b.key;
  const bool isByTime = a.key.isShared();
  return isByTime ? std::tie(a.startNs, a.order) < std::tie(b.startNs, b.order) : a.order < b.order;
}

bool DeviceEvents::RecordsFirst::operator()(const StagedSync& a,
                                            const StagedSync& b) const noexcept {
  return std::tie(a.process, a.correlation, a.isWait, a.order) <
         std::tie(b.process, b.correlation, b.isWait, b.order);
}

DeviceEvents::DeviceEvents(const std::filesystem::path& folder)
    : staged_(folder, kDeviceRecordsInMemory),
      syncs_(folder, kDeviceRecordsInMemory),
      overlaps_(folder) {}

Result<void> DeviceEvents::add(const Work& work,
                               model::ProcessId process,
                               model::OptionalInt externalId) {
  const model::DeviceWork& row = workOf(work);
  LaunchKey key = LaunchKey::arrow(row.streamId, row.startNs);
  if (row.correlationId)
    key = LaunchKey::correlation(process, *row.correlationId);
  else if (externalId)
    key = LaunchKey::externalId(process, *externalId);
  return staged_.add({key, row.startNs, count_++, work});
}

Result<void> DeviceEvents::add(const model::Sync& sync,
                               model::ProcessId process,
                               model::OptionalInt recordCorrelation) {
  const bool isRecord = sync.kind == model::SyncKind::Record;
  const model::OptionalInt correlation = isRecord ? sync.correlationId : recordCorrelation;
  return syncs_.add({process.value, correlation.value_or(kNone), !isRecord, count_++, sync});
}

bool DeviceEvents::isLeftOut(const Staged& staged, const TimeWindow& window) {
  if (window.holds(staged.startNs, staged.startNs + workOf(staged.work).durNs.value_or(0)))
    return false;
  if (const auto* const kernel = std::get_if<model::Kernel>(&staged.work))
    leftOut_.kernels.push_back(kernel->id.value);
  else
    leftOut_.copies.push_back(std::get<model::Copy>(staged.work).id.value);
  return true;
}

Result<void> DeviceEvents::storeWork(store::TraceWriter& writer,
                                     HostSlices& slices,
                                     std::int64_t shiftNs,
                                     const TimeWindow& window) {
  SONDE_TRY(staged_.sort());
  LaunchCursor launches(slices);
  SONDE_TRY(launches.begin());
  for (Staged staged{};;) {
    SONDE_TRY_ASSIGN(const bool more, staged_.next(staged));
    if (!more)
      return {};
    if (isLeftOut(staged, window))
      continue;
    SONDE_TRY_ASSIGN(const LaunchCursor::Found found, launches.find(staged.key, staged.startNs));
    ambiguous_ += found.isAmbiguous ? 1 : 0;
    if (const auto* const kernel = std::get_if<model::Kernel>(&staged.work))
      SONDE_TRY(overlaps_.add(*kernel));
    SONDE_TRY(std::visit(Store{writer, shiftNs, found.launch}, staged.work));
  }
}

Result<void> DeviceEvents::storeSyncs(store::TraceWriter& writer,
                                      std::int64_t shiftNs,
                                      const TimeWindow& window) {
  SONDE_TRY(syncs_.sort());
  StagedSync record{};
  for (StagedSync staged{};;) {
    SONDE_TRY_ASSIGN(const bool more, syncs_.next(staged));
    if (!more)
      return {};
    const std::int64_t end = staged.row.startNs + staged.row.durNs.value_or(0);
    if (!window.holds(staged.row.startNs, end)) {
      leftOut_.syncs.push_back(staged.row.id.value);
      continue;
    }
    if (!staged.isWait)
      record = staged;
    else if (staged.correlation != kNone && std::tie(record.process, record.correlation) ==
                                                std::tie(staged.process, staged.correlation))
      staged.row.waitsForId = record.row.id;
    staged.row.processId = model::ProcessId{staged.process};
    staged.row.startNs += shiftNs;
    SONDE_TRY(writer.add(staged.row));
  }
}

Result<void> DeviceEvents::finish(store::TraceWriter& writer,
                                  HostSlices& slices,
                                  std::int64_t shiftNs,
                                  const TimeWindow& window) {
  SONDE_TRY(storeWork(writer, slices, shiftNs, window));
  return storeSyncs(writer, shiftNs, window);
}

}  // namespace sonde::ingest
