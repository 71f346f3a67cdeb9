#include "gui/models/flame/flame_values.h"

#include "gui/trace/qtext.h"
#include "gui/trace/time_format.h"

#include <QCoreApplication>
#include <QStringList>

#include <cstddef>

namespace sonde::gui {
namespace {

namespace callpaths = engine::callpaths;

QString tr(const char* text) {
  return QCoreApplication::translate("Flame", text);
}

QVariant integer(std::int64_t value) {
  return QVariant::fromValue<qlonglong>(value);
}

double shareOf(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

struct SourceText {
  const char* title;
  const char* events;
};
constexpr SourceText kSources[] = {{"Operations and calls", "events"},
                                   {"Work of devices, by its launch", "kernels and copies"},
                                   {"Stack samples: on a processor", "samples"},
                                   {"Stack samples: waiting", "waits"},
                                   {"Stack samples: all time", "samples"},
                                   {"Stacks of launches: time of devices", "kernels and copies"},
                                   {"Stacks of allocations: bytes", "allocations"}};

const SourceText& textOfSource(FlameSource source) {
  return kSources[static_cast<std::size_t>(source)];
}

}  // namespace

callpaths::PathFilter flameFilter(const TraceModels& models) {
  callpaths::PathFilter filter;
  filter.rank = models.focus.part().rank;
  filter.operation = models.focus.part().operation.toStdString();
  filter.range = models.view.selectedTime();
  if (const auto& area = models.view.area()) {
    std::size_t all = 0;
    for (const TrackInfo& track : models.document.skeleton().tracks) {
      if (track.owner != Owner::Thread)
        continue;
      ++all;
      if (area->covers(track))
        filter.threads.push_back(track.id);
    }
    if (filter.threads.size() == all)
      filter.threads.clear();
  }
  return filter;
}

QString limitsText(const callpaths::PathFilter& filter) {
  QStringList limits;
  if (const QString part = textOf(Focus::Part{filter.rank, qtext(filter.operation), {}});
      !part.isEmpty())
    limits << part;
  if (filter.range)
    limits << tr("the selected %1").arg(formatDuration(filter.range->end - filter.range->begin));
  if (!filter.threads.empty())
    limits << (filter.threads.size() == 1 ? tr("1 selected thread")
                                          : tr("%1 selected threads").arg(filter.threads.size()));
  return limits.join(QStringLiteral(" · "));
}

Result<FlameValues> readFlame(const store::Database& trace, const FlameChoice& choice) {
  FlameValues values;
  SONDE_TRY_ASSIGN(values.sources, callpaths::pathSources(trace));
  if (choice.source)
    values.source = *choice.source;
  else if (!values.sources.empty())
    values.source = values.sources.front();
  else
    return Error{ErrorCode::NotFound,
                 "the trace has no events: annotate the program (docs/python.md), or record it "
                 "with 'sonde run --sources +stack'"};
  SONDE_TRY_ASSIGN(callpaths::CallTree tree,
                   callpaths::callPaths(trace, values.source, choice.filter));
  values.paths = std::make_shared<const callpaths::CallTree>(std::move(tree));
  values.names = callpaths::timesByName(*values.paths);
  values.shown =
      choice.isInverted
          ? std::make_shared<const callpaths::CallTree>(callpaths::inverted(*values.paths))
          : values.paths;
  return values;
}

Result<callpaths::BusyCells> readCells(const store::Database& trace,
                                       FlameSource source,
                                       const callpaths::PathFilter& filter) {
  return callpaths::busyCells(trace, source, filter);
}

QString titleOf(FlameSource source) {
  return tr(textOfSource(source).title);
}

QString eventsOf(FlameSource source) {
  return tr(textOfSource(source).events);
}

ValueKind unitOf(FlameSource source) {
  return source == FlameSource::AllocationSamples ? ValueKind::Bytes : ValueKind::Duration;
}

std::vector<ValueColumn> nameColumns(ValueKind unit) {
  return {{tr("name")},
          {tr("total"), unit, tr("in it and below it; calls of itself count once")},
          {tr("self"), unit, tr("in it alone")},
          {tr("share"), ValueKind::Share, tr("of the total")},
          {tr("count"), ValueKind::Integer}};
}

std::vector<ValueRow> nameRows(const FlameValues& values) {
  const callpaths::CallTree& paths = *values.paths;
  std::vector<ValueRow> rows;
  for (const callpaths::NameTime& time : values.names) {
    const QString name = qtext(paths.texts[time.name]);
    rows.push_back({{name,
                     integer(time.totalNs),
                     integer(time.selfNs),
                     shareOf(time.totalNs, paths.totalNs[callpaths::kRoot]),
                     integer(time.count)},
                    {.name = name}});
  }
  return rows;
}

std::vector<ValueColumn> neighbourColumns(const QString& title, ValueKind unit) {
  return {{title},
          {tr("time"), unit, tr("of the inner one of the two")},
          {tr("share"), ValueKind::Share, tr("of the chosen name")},
          {tr("count"), ValueKind::Integer}};
}

std::vector<ValueRow> neighbourRows(const callpaths::CallTree& paths,
                                    const callpaths::NameTime& whole,
                                    const std::vector<callpaths::Neighbour>& neighbours) {
  std::vector<ValueRow> rows;
  for (const callpaths::Neighbour& each : neighbours) {
    const QString name = each.name == 0 ? tr("(nothing)") : qtext(paths.texts[each.name]);
    rows.push_back({{name, integer(each.ns), shareOf(each.ns, whole.totalNs), integer(each.count)},
                    {.name = each.name == 0 ? QString() : name}});
  }
  return rows;
}

Place placeOf(const callpaths::CallTree& tree, callpaths::CallNode node) {
  const callpaths::Instance& longest = tree.longest[node];
  if (longest.table == callpaths::Instance::Table::None)
    return {};
  constexpr Table kTables[] = {Table::Slice, Table::Slice, Table::Kernel, Table::Copy};
  return {.span = Span{longest.beginNs, longest.endNs},
          .event = EventRef{kTables[static_cast<std::size_t>(longest.table)], longest.id}};
}

}  // namespace sonde::gui
