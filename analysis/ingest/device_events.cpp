#include "analysis/ingest/device_events.h"

#include <limits>
#include <optional>
#include <tuple>

namespace sonde::ingest {
namespace {

constexpr std::size_t kInMemory = 120'000;  // 40 MB
constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();

model::OptionalInt correlationOf(const DeviceEvents::Work& work) {
  return std::visit([](const auto& row) { return row.work.correlationId; }, work);
}

// Walks the launches beside the events, which are in the same order.
class LaunchCursor {
 public:
  explicit LaunchCursor(HostSlices& slices) : slices_(slices) {}

  Result<void> begin() { return advance(); }

  Result<std::optional<Launch>> find(std::int64_t process, std::int64_t correlation) {
    while (has_ && std::tie(launch_.process, launch_.correlation) < std::tie(process, correlation))
      SONDE_TRY(advance());
    if (has_ && launch_.process == process && launch_.correlation == correlation)
      return std::optional(launch_);
    return std::optional<Launch>();
  }

 private:
  Result<void> advance() {
    SONDE_TRY_ASSIGN(has_, slices_.nextLaunch(launch_));
    return {};
  }

  HostSlices& slices_;
  Launch launch_{};
  bool has_ = false;
};

struct Store {
  store::TraceWriter& writer;
  std::int64_t shiftNs;
  const std::optional<Launch>& launch;

  void complete(model::DeviceWork& work) const {
    work.startNs += shiftNs;
    if (!launch)
      return;
    work.launchSliceId = model::SliceId{launch->slice};
    work.launchDelayNs = work.startNs - shiftNs - launch->startNs;
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

bool DeviceEvents::ByCorrelation::operator()(const Staged& a, const Staged& b) const noexcept {
  return std::tie(a.process, a.correlation, a.order) < std::tie(b.process, b.correlation, b.order);
}

bool DeviceEvents::RecordsFirst::operator()(const StagedSync& a,
                                            const StagedSync& b) const noexcept {
  return std::tie(a.process, a.correlation, a.isWait, a.order) <
         std::tie(b.process, b.correlation, b.isWait, b.order);
}

DeviceEvents::DeviceEvents(const std::filesystem::path& folder)
    : staged_(folder, kInMemory), syncs_(folder, kInMemory) {}

Result<void> DeviceEvents::add(const Work& work, model::ProcessId process) {
  return staged_.add({process.value, correlationOf(work).value_or(kNone), count_++, work});
}

Result<void> DeviceEvents::add(const model::Sync& sync,
                               model::ProcessId process,
                               model::OptionalInt recordCorrelation) {
  const bool isRecord = sync.kind == model::SyncKind::Record;
  const model::OptionalInt correlation = isRecord ? sync.correlationId : recordCorrelation;
  return syncs_.add({process.value, correlation.value_or(kNone), !isRecord, count_++, sync});
}

Result<void> DeviceEvents::storeWork(store::TraceWriter& writer,
                                     HostSlices& slices,
                                     std::int64_t shiftNs) {
  SONDE_TRY(staged_.sort());
  LaunchCursor launches(slices);
  SONDE_TRY(launches.begin());
  for (Staged staged{};;) {
    SONDE_TRY_ASSIGN(const bool more, staged_.next(staged));
    if (!more)
      return {};
    SONDE_TRY_ASSIGN(const std::optional<Launch> launch,
                     launches.find(staged.process, staged.correlation));
    SONDE_TRY(std::visit(Store{writer, shiftNs, launch}, staged.work));
  }
}

Result<void> DeviceEvents::storeSyncs(store::TraceWriter& writer, std::int64_t shiftNs) {
  SONDE_TRY(syncs_.sort());
  StagedSync record{};
  for (StagedSync staged{};;) {
    SONDE_TRY_ASSIGN(const bool more, syncs_.next(staged));
    if (!more)
      return {};
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
                                  std::int64_t shiftNs) {
  SONDE_TRY(storeWork(writer, slices, shiftNs));
  return storeSyncs(writer, shiftNs);
}

}  // namespace sonde::ingest
