#include "analysis/ingest/device_events.h"

#include <limits>
#include <optional>
#include <tuple>

namespace sonde::ingest {
namespace {

constexpr std::size_t kInMemory = 120'000;  // 40 MB
constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();

model::OptionalInt correlationOf(const DeviceEvents::Event& event) {
  if (const auto* sync = std::get_if<model::Sync>(&event))
    return sync->correlationId;
  const auto* kernel = std::get_if<model::Kernel>(&event);
  return kernel != nullptr ? kernel->work.correlationId
                           : std::get<model::Copy>(event).work.correlationId;
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
  Result<void> operator()(model::Sync& row) const {
    row.startNs += shiftNs;
    SONDE_TRY(writer.add(row));
    return {};
  }
};

}  // namespace

bool DeviceEvents::ByCorrelation::operator()(const Staged& a, const Staged& b) const noexcept {
  return std::tie(a.process, a.correlation, a.order) < std::tie(b.process, b.correlation, b.order);
}

DeviceEvents::DeviceEvents(const std::filesystem::path& folder) : staged_(folder, kInMemory) {}

Result<void> DeviceEvents::add(const Event& event, model::ProcessId process) {
  const model::OptionalInt correlation = correlationOf(event);
  return staged_.add({process.value, correlation.value_or(kNone), count_++, event});
}

Result<void> DeviceEvents::finish(store::TraceWriter& writer,
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
    SONDE_TRY(std::visit(Store{writer, shiftNs, launch}, staged.event));
  }
}

}  // namespace sonde::ingest
