#include "gui/trace/reader_counters.h"

#include "analysis/store/each_row.h"
#include "gui/trace/qtext.h"

#include <algorithm>
#include <utility>

namespace sonde::gui {
namespace {

constexpr const char* kCounters =
    "SELECT c.id, c.host_id, coalesce(c.process_id, t.process_id), c.device_id, n.text, c.unit, "
    "c.kind = 'total', t.tid, t.name, h.name FROM counter c JOIN host h ON h.id = c.host_id "
    "LEFT JOIN thread t ON t.id = c.thread_id LEFT JOIN string n ON n.id = c.name_id "
    "WHERE EXISTS (SELECT 1 FROM sample s WHERE s.counter_id = c.id) ORDER BY c.device_id IS NULL, "
    "c.process_id IS NULL AND c.thread_id IS NULL, c.thread_id IS NOT NULL, c.device_id, t.tid, "
    "c.id";

// The unit of what is drawn: a value, or the rate of a total.
QString drawnUnit(const QString& unit, bool isTotal) {
  if (!isTotal)
    return unit;
  if (unit == u"ns")
    return QStringLiteral("%");
  return unit == u"J" ? QStringLiteral("W") : unit + QStringLiteral("/s");
}

// The device's name says that it is a GPU.
QString withoutGpu(QString name) {
  if (name.startsWith(QStringLiteral("GPU ")))
    name.remove(0, 4);
  return name;
}

CounterTrack trackOf(const store::Statement& row, const std::vector<DeviceInfo>& devices) {
  CounterTrack counter;
  counter.hostId = row.integer(1);
  counter.processId = row.optionalInteger(2);
  counter.deviceId = row.optionalInteger(3);
  TrackInfo& track = counter.track;
  track.owner = Owner::Counter;
  track.id = row.integer(0);
  track.rows = TrackInfo::kCounterRows;
  track.name = qtext(row.text(4));
  const bool isTotal = row.integer(6) != 0;
  track.counter =
      CounterInfo{drawnUnit(qtext(row.text(5)), isTotal), isTotal, false, withoutGpu(track.name)};
  const auto device = std::find_if(devices.begin(), devices.end(), [&](const DeviceInfo& each) {
    return each.id == counter.deviceId;
  });
  if (device != devices.end()) {
    track.name = device->name + QStringLiteral(" · ") + track.counter->kind;
    track.detail = device->model;
  } else if (const auto tid = row.optionalInteger(7)) {
    const QString name = qtext(row.text(8));
    track.detail =
        QStringLiteral("%1 %2").arg(name.isEmpty() ? QStringLiteral("thread") : name).arg(*tid);
    track.name += QStringLiteral(" · ") + track.detail;
  } else {
    track.detail = counter.processId ? QStringLiteral("whole process") : qtext(row.text(9));
  }
  return counter;
}

}  // namespace

Result<std::vector<CounterTrack>> readCounterTracks(const store::Database& trace,
                                                    const std::vector<DeviceInfo>& devices) {
  std::vector<CounterTrack> counters;
  SONDE_TRY(store::forEachRow(trace, kCounters, [&](const store::Statement& row) -> Result<void> {
    counters.push_back(trackOf(row, devices));
    return {};
  }));
  return counters;
}

}  // namespace sonde::gui
