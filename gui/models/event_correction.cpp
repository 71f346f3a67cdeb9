#include "gui/models/event_correction.h"

#include "gui/trace/time_format.h"

#include <string>
#include <utility>

namespace sonde::gui {
namespace {

namespace correction = engine::correction;

struct CorrectedEvent {
  std::int64_t rawNs = 0;
  std::int64_t ns = 0;
  std::int64_t earlierNs = 0;  // its begin
};

// nullopt: it has no end, or it has no times of its own.
Result<std::optional<CorrectedEvent>> correct(const store::Database& trace,
                                              const correction::CorrectedTimes& times,
                                              const EventRef& event) {
  static constexpr const char* kTables[] = {"slice", "kernel", "copy", "sync"};
  const auto table = static_cast<std::size_t>(event.table);
  if (event.table == Table::Transfer)
    return std::optional<CorrectedEvent>();
  const bool isSlice = event.table == Table::Slice;
  SONDE_TRY_ASSIGN(auto row,
                   trace.prepare(std::string("SELECT start_ns, dur_ns, ") +
                                 (isSlice ? "thread_id" : "stream_id") + " FROM " + kTables[table] +
                                 " WHERE id = ?1"));
  SONDE_TRY_ASSIGN(const bool isThere, row.bindAll(event.id).step());
  const auto length = isThere ? row.optionalInteger(1) : std::nullopt;
  if (!length)
    return std::optional<CorrectedEvent>();
  const std::int64_t begin = row.integer(0);
  const std::int64_t lane = row.integer(2);
  const correction::Timeline& timeline =
      isSlice ? times.timesOfThread(lane) : times.timesOfStream(lane);
  return std::optional(CorrectedEvent{
      *length, timeline(begin + *length) - timeline(begin), timeline.delayAt(begin)});
}

DetailsSection sectionOf(const CorrectedEvent& event) {
  const std::int64_t own = event.rawNs - event.ns;
  DetailsSection section{EventCorrection::tr("Cost of recording"), {}};
  section.rows.emplace_back(EventCorrection::tr("Corrected duration"), formatDuration(event.ns));
  // A wait lasts longer if what it waits for does not come earlier.
  section.rows.emplace_back(
      own >= 0 ? EventCorrection::tr("Sonde's own") : EventCorrection::tr("Longer by"),
      formatDuration(own >= 0 ? own : -own));
  section.rows.emplace_back(EventCorrection::tr("Begins earlier by"),
                            formatDuration(event.earlierNs));
  return section;
}

}  // namespace

EventCorrection::EventCorrection(TraceDocument& document,
                                 Selection& selection,
                                 TimeBasis& times,
                                 Analyses& analyses)
    : document_(document), selection_(selection), times_(times), analyses_(analyses) {
  connect(&selection_, &Selection::changed, this, &EventCorrection::read);
  connect(&selection_, &Selection::detailsChanged, this, &EventCorrection::read);
  connect(&times_, &TimeBasis::correctionChanged, this, &EventCorrection::read);
}

void EventCorrection::show(std::optional<DetailsSection> section) {
  const bool isNew = section_ || section;
  section_ = std::move(section);
  if (isNew)
    emit changed();
}

void EventCorrection::read() {
  show(std::nullopt);
  analyses_.cancel(*this);
  if (!selection_.details())
    return;
  const auto known = times_.correction();
  if (known == nullptr)
    return;
  analyses_.ask(
      *this,
      [event = *selection_.ref(), known](const store::Database& trace) {
        return correct(trace, *known, event);
      },
      [this](const Result<std::optional<CorrectedEvent>>& event) {
        if (event && *event)
          show(sectionOf(**event));
      });
}

}  // namespace sonde::gui
