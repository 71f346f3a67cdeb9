#include "gui/models/breakdown/breakdown_bars.h"

#include "gui/trace/qtext.h"

#include <QCoreApplication>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

namespace sonde::gui {
namespace {

namespace breakdown = engine::breakdown;
using breakdown::Breakdown;
using breakdown::Dimensions;
using breakdown::Group;

constexpr std::array<const char*, 8> kTitles = {
    "rank", "thread", "phase", "operation", "module", "iteration", "category", "resource"};
constexpr bool Dimensions::*kDimensions[] = {&Dimensions::process,
                                             &Dimensions::thread,
                                             &Dimensions::phase,
                                             &Dimensions::operation,
                                             &Dimensions::module,
                                             &Dimensions::iteration,
                                             &Dimensions::category,
                                             &Dimensions::resource};

std::optional<std::int64_t> rankOf(const Breakdown& rows, const Group& group) {
  for (const auto& process : rows.processes)
    if (group.processId && process.id == *group.processId)
      return process.rank;
  return std::nullopt;
}

// Rows of the rank and operation of the request, with dimensions for them.
Result<Breakdown> readRows(const store::Database& trace,
                           std::vector<BreakdownBy> by,
                           const BreakdownRequest& request) {
  const Focus::Part& part = request.part;
  if (part.rank)
    by.push_back(BreakdownBy::Process);
  if (!part.operation.isEmpty())
    by.push_back(BreakdownBy::Operation);
  breakdown::Options options;
  options.within = request.within;
  options.correct = request.isCorrected;
  for (const BreakdownBy each : by)
    options.by.*kDimensions[static_cast<std::size_t>(each)] = true;
  SONDE_TRY_ASSIGN(Breakdown rows, breakdown::breakDown(trace, options));
  if (part.rank || !part.operation.isEmpty()) {
    const std::string operation = part.operation.toStdString();
    std::erase_if(rows.rows, [&](const breakdown::Row& row) {
      const auto& operations = row.group.operations;
      return (part.rank && rankOf(rows, row.group) != part.rank) ||
             (!operation.empty() &&
              std::find(operations.begin(), operations.end(), operation) == operations.end());
    });
    rows.totalNs = 0;
    for (const breakdown::Row& row : rows.rows)
      rows.totalNs += row.ns;
  }
  return rows;
}

QString breakdownText(const char* text) {
  return QCoreApplication::translate("Breakdown", text);
}

QString joined(const std::vector<std::string>& names, const char* none = "–") {
  QStringList texts;
  for (const std::string& name : names)
    texts << qtext(name);
  return texts.isEmpty() ? breakdownText(none) : texts.join(QStringLiteral(" + "));
}

QString processName(const Breakdown& rows, std::int64_t id) {
  const auto process = std::find_if(rows.processes.begin(),
                                    rows.processes.end(),
                                    [&](const auto& each) { return each.id == id; });
  if (process == rows.processes.end())
    return {};
  const bool isShared =
      process->rank &&
      std::count_if(rows.processes.begin(), rows.processes.end(), [&](const auto& each) {
        return each.rank == process->rank;
      }) > 1;
  if (!process->rank)
    return QStringLiteral("process %1").arg(process->pid);
  return isShared ? QStringLiteral("rank %1, process %2").arg(*process->rank).arg(process->pid)
                  : QStringLiteral("rank %1").arg(*process->rank);
}

QString threadName(const Breakdown& rows, std::int64_t id) {
  const auto thread = rows.threads.find(id);
  if (thread == rows.threads.end())
    return {};
  return qtext(thread->second.name) + QStringLiteral(" %1").arg(thread->second.tid);
}

QString labelOf(const Breakdown& rows, const Group& group, BreakdownBy by) {
  switch (by) {
    case BreakdownBy::Process:
      return processName(rows, group.processId.value_or(0));
    case BreakdownBy::Thread:
      return threadName(rows, group.threadId.value_or(0));
    case BreakdownBy::Phase:
      return joined(group.phases, "outside of phases");
    case BreakdownBy::Operation:
      return joined(group.operations, "outside of operations");
    case BreakdownBy::Module:
      return joined(group.modules, "outside of modules");
    case BreakdownBy::Iteration:
      return group.iteration ? QString::number(*group.iteration)
                             : breakdownText("outside of iterations");
    case BreakdownBy::Category:
      return joined({group.categories.begin(), group.categories.end()});
    case BreakdownBy::Resource:
      return group.resource ? qtext(breakdown::word(*group.resource)) : QStringLiteral("–");
  }
  return {};
}

bool isScope(BreakdownBy by) {
  return by == BreakdownBy::Phase || by == BreakdownBy::Operation || by == BreakdownBy::Module;
}

Place placeOf(const Breakdown& rows, const Group& group, BreakdownBy by) {
  Place place;
  if (by == BreakdownBy::Process)
    place.rank = rankOf(rows, group);
  if (by == BreakdownBy::Operation && group.operations.size() == 1)
    place.operation = qtext(group.operations.front());
  return place;
}

// Bars in the order of their rows: iterations by number, the longest first of others.
void order(std::vector<BreakdownBar>& bars, BreakdownBy by) {
  if (by == BreakdownBy::Process)
    return;
  std::stable_sort(bars.begin(), bars.end(), [&](const BreakdownBar& a, const BreakdownBar& b) {
    return by == BreakdownBy::Iteration ? a.label.toLongLong() < b.label.toLongLong()
                                        : a.sumNs > b.sumNs;
  });
}

// Moves the largest parts to the front.
void orderParts(BreakdownBars& bars) {
  const auto count = static_cast<std::size_t>(bars.parts.size());
  std::vector<std::int64_t> sums(count, 0);
  for (BreakdownBar& bar : bars.bars) {
    bar.ns.resize(count, 0);
    for (std::size_t part = 0; part < count; ++part)
      sums[part] += bar.ns[part];
  }
  std::vector<std::size_t> places(count);
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::stable_sort(places.begin(), places.end(), [&](auto a, auto b) { return sums[a] > sums[b]; });
  QStringList names;
  for (const std::size_t place : places)
    names << bars.parts[static_cast<qsizetype>(place)];
  bars.parts = names;
  for (BreakdownBar& bar : bars.bars) {
    std::vector<std::int64_t> ordered;
    ordered.reserve(count);
    for (const std::size_t place : places)
      ordered.push_back(bar.ns[place]);
    bar.ns = std::move(ordered);
  }
}

}  // namespace

QString titleOf(BreakdownBy by) {
  return QCoreApplication::translate("Breakdown", kTitles[static_cast<std::size_t>(by)]);
}

Result<BreakdownBars> readBreakdown(const store::Database& trace, const BreakdownRequest& request) {
  SONDE_TRY_ASSIGN(const Breakdown whole, readRows(trace, {request.bars}, request));
  SONDE_TRY_ASSIGN(const Breakdown rows, readRows(trace, {request.bars, request.parts}, request));
  BreakdownBars result;
  for (const auto& [name, kind] : rows.kinds)
    result.kinds.insert(qtext(name), static_cast<Kind>(kind));
  if (isScope(request.parts))
    result.outside = labelOf(rows, {}, request.parts);
  result.totalNs = whole.totalNs;
  result.isCorrected = whole.corrected;
  std::map<QString, std::size_t> barAt;
  for (const breakdown::Row& row : whole.rows) {
    const QString label = labelOf(whole, row.group, request.bars);
    const auto [at, isNew] = barAt.emplace(label, result.bars.size());
    if (isNew)
      result.bars.push_back({label, {}, 0, 0, 0, placeOf(whole, row.group, request.bars)});
    BreakdownBar& bar = result.bars[at->second];
    bar.sumNs += row.ns;
    bar.lowNs += row.lowNs;
    bar.highNs += row.highNs;
  }
  std::map<QString, std::size_t> partAt;
  for (const breakdown::Row& row : rows.rows) {
    const auto bar = barAt.find(labelOf(rows, row.group, request.bars));
    if (bar == barAt.end())
      continue;
    const QString label = labelOf(rows, row.group, request.parts);
    const auto [part, isNew] = partAt.emplace(label, partAt.size());
    if (isNew)
      result.parts << label;
    std::vector<std::int64_t>& ns = result.bars[bar->second].ns;
    ns.resize(std::max(ns.size(), part->second + 1), 0);
    ns[part->second] += row.ns;
  }
  order(result.bars, request.bars);
  orderParts(result);
  return result;
}

std::vector<ValueColumn> breakdownColumns() {
  const auto tr = [](const char* text) { return QCoreApplication::translate("Breakdown", text); };
  return {{tr("bar")},
          {tr("part")},
          {tr("time"), ValueKind::Duration},
          {tr("share of the bar"), ValueKind::Share},
          {tr("share of all"), ValueKind::Share}};
}

std::vector<ValueRow> breakdownRows(const BreakdownBars& bars) {
  std::vector<ValueRow> rows;
  const auto share = [](std::int64_t part, std::int64_t of) {
    return of > 0 ? static_cast<double>(part) / static_cast<double>(of) : 0.0;
  };
  for (const BreakdownBar& bar : bars.bars)
    for (std::size_t part = 0; part < bar.ns.size(); ++part)
      if (bar.ns[part] != 0)
        rows.push_back({{bar.label,
                         bars.parts[static_cast<qsizetype>(part)],
                         QVariant::fromValue<qlonglong>(bar.ns[part]),
                         share(bar.ns[part], bar.sumNs),
                         share(bar.ns[part], bars.totalNs)},
                        bar.place});
  return rows;
}

}  // namespace sonde::gui
