#include "gui/models/overview/overview_values.h"

#include "analysis/engine/metrics/clock.h"
#include "gui/models/findings/finding_page.h"
#include "gui/trace/qtext.h"
#include "gui/trace/time_format.h"
#include "rules/configuration/configuration.h"
#include "rules/reporters/report_parts.h"

#include <QCoreApplication>
#include <QFileInfo>

#include <algorithm>

namespace sonde::gui {
namespace {

using engine::report::JobReport;
using engine::report::RankReport;

QString tr(const char* text) {
  return QCoreApplication::translate("Overview", text);
}

QVariant integer(std::int64_t value) {
  return QVariant::fromValue<qlonglong>(value);
}

QString rankText(const RankReport& rank) {
  return qtext(rank.process.name);
}

QString countOf(std::int64_t count, const char* one, const char* many) {
  return QStringLiteral("%L1 ").arg(count) + tr(count == 1 ? one : many);
}

void addStalls(const JobReport& report, std::vector<ValueRow>& rows) {
  for (const auto& rank : report.usage.stalls)
    for (const auto& stall : rank.causes)
      if (stall.above > 0)
        rows.push_back(
            {{tr("stall"),
              tr("%1: the %2 held up iterations for %3, %4 % of their time; the longest took %5")
                  .arg(qtext(rank.process),
                       QLatin1String(engine::metrics::kStallCauseNames.at(
                           static_cast<std::size_t>(stall.cause))),
                       formatDuration(stall.ns))
                  .arg(100 * stall.share, 0, 'f', 1)
                  .arg(formatDuration(stall.maxNs))},
             {.rank = rank.rank}});
}

void addChanges(const JobReport& report, std::vector<ValueRow>& rows) {
  for (const auto& rank : report.usage.changes)
    for (const auto& change : rank.changes)
      rows.push_back({{tr("change"),
                       tr("%1: from iteration %2 on, iterations take %3 instead of %4")
                           .arg(qtext(rank.process))
                           .arg(change.number)
                           .arg(formatDuration(change.afterNs), formatDuration(change.beforeNs))},
                      {.rank = rank.rank}});
}

}  // namespace

Result<JobReport> readJobReport(const store::Database& trace) {
  SONDE_TRY_ASSIGN(const std::int64_t replayed,
                   trace.queryInteger("SELECT count(*) FROM meta WHERE key = 'replayed'"));
  engine::metrics::Clocks clocks;
  if (replayed == 0) {
    SONDE_TRY_ASSIGN(clocks, engine::metrics::Clocks::read(trace, nullptr));
  }
  return engine::report::readReport(trace, std::nullopt, clocks);
}

Result<JobReport> readRawJobReport(const store::Database& trace) {
  return engine::report::readReport(trace, std::nullopt, {});
}

std::function<Result<SharedReport>(const std::shared_ptr<const store::Database>&)> reportQuery(
    TraceModels& models) {
  if (models.times.isCorrected())
    return models.once.query<readJobReport>();
  return models.once.query<readRawJobReport>();
}

Result<rules::CheckReport> readFindings(const store::Database& trace) {
  SONDE_TRY_ASSIGN(const rules::Configuration configuration, rules::defaultConfiguration(""));
  return rules::check(trace, configuration);
}

QString jobTitle(const engine::report::JobReport& report,
                 const Skeleton& skeleton,
                 const QStringList& paths) {
  QString command = qtext(report.facts.command);
  const bool isOfAll = std::all_of(
      skeleton.processes.begin(), skeleton.processes.end(), [&](const ProcessInfo& process) {
        return !process.rank || process.childOf || process.command == command;
      });
  if (isOfAll && command.contains(u' '))
    return command;
  QStringList names;
  for (const QString& path : paths)
    names << QFileInfo(path).fileName();
  return names.join(QStringLiteral(", "));
}

QString factsLine(const JobReport& report) {
  std::int64_t iterations = 0;
  for (const RankReport& rank : report.ranks)
    iterations = std::max(iterations, rank.iterations.count);
  return QStringList{countOf(static_cast<std::int64_t>(report.ranks.size()), "rank", "ranks") +
                         tr(" on ") + countOf(report.facts.hosts, "host", "hosts"),
                     countOf(iterations, "iteration", "iterations"),
                     formatDuration(report.facts.wallNs),
                     countOf(report.facts.events, "event", "events")}
      .join(QStringLiteral("  ·  "));
}

QStringList rankTimeParts() {
  return {tr("computing"),
          tr("exposed communication"),
          tr("exposed copies"),
          tr("waiting for data"),
          tr("idle"),
          tr("not known")};
}

std::vector<RankBar> rankTimes(const JobReport& report) {
  std::vector<RankBar> bars;
  for (const RankReport& rank : report.ranks) {
    const auto& time = rank.time;
    std::vector<double> ns(6, 0.0);
    if (time.computeKnown) {
      ns = {double(time.computeNs),
            double(time.exposedNs),
            double(time.exposedCopyNs),
            double(rank.idleLoadNs),
            double(time.idleNs - rank.idleLoadNs),
            0.0};
    } else {
      ns[1] = double(time.commNs);
      ns[5] = double(time.windowNs - time.commNs);
    }
    bars.push_back({rankText(rank), std::move(ns), rank.process.rank});
  }
  return bars;
}

std::vector<ValueColumn> operationColumns() {
  return {{tr("operation")},
          {tr("kind")},
          {tr("rank")},
          {tr("count"), ValueKind::Integer},
          {tr("time"), ValueKind::Duration, tr("nested ones count once")},
          {tr("share"), ValueKind::Share, tr("of the rank's iterations")},
          {tr("median"), ValueKind::Duration},
          {tr("95 %"), ValueKind::Duration}};
}

std::vector<ValueRow> operationRows(const JobReport& report) {
  std::vector<ValueRow> rows;
  for (const RankReport& rank : report.ranks)
    for (std::size_t at = 0; at < rank.operations.size(); ++at) {
      const auto& operation = rank.operations[at];
      rows.push_back({{qtext(operation.name),
                       qtext(operation.kind),
                       rankText(rank),
                       integer(operation.count),
                       integer(rank.operationTimes[at].ns),
                       operation.share,
                       integer(operation.p50Ns),
                       integer(operation.p95Ns)},
                      {.rank = rank.process.rank, .operation = qtext(operation.name)}});
    }
  return rows;
}

std::vector<ValueColumn> pathColumns() {
  return {{tr("cause")},
          {tr("most of it")},
          {tr("time"), ValueKind::Duration},
          {tr("share"), ValueKind::Share, tr("of the critical paths of all iterations")}};
}

std::vector<ValueRow> pathRows(const JobReport& report) {
  std::vector<ValueRow> rows;
  for (const auto& cause : report.path.causes)
    rows.push_back({{spaced(engine::critical::nameOf(cause.cause)),
                     qtext(cause.what),
                     integer(cause.ns),
                     cause.share},
                    {.name = qtext(cause.what)}});
  return rows;
}

std::vector<ValueColumn> findingColumns() {
  return {{tr("finding")}, {tr("severity")}, {tr("verdict")}, {tr("where")}, {tr("what")}};
}

std::vector<ValueRow> findingRows(const rules::CheckReport& check) {
  std::vector<const rules::CheckResult*> shown = rules::mostSeriousFirst(check);
  std::erase_if(shown, [](const auto* each) {
    return !each->counts() || (each->outcome.verdict != rules::Verdict::Fired &&
                               each->outcome.verdict != rules::Verdict::Error);
  });
  std::vector<ValueRow> rows;
  for (const rules::CheckResult* result : shown) {
    ValueRow row{{qtext(result->rule),
                  qtext(rules::wordOf(result->severity)),
                  qtext(rules::wordOf(result->outcome.verdict)),
                  qtext(result->entity),
                  qtext(result->outcome.message)}};
    row.place = placeOf(*result);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<ValueColumn> noteColumns() {
  return {{tr("about")}, {tr("what")}};
}

std::vector<ValueRow> noteRows(const JobReport& report) {
  std::vector<ValueRow> rows;
  if (const auto& straggler = report.path.straggler)
    rows.push_back({{tr("straggler"),
                     tr("rank %1 costs the job %2 per iteration (%3 %), most of it in %4")
                         .arg(straggler->rank)
                         .arg(formatDuration(straggler->ns))
                         .arg(100 * straggler->share, 0, 'f', 1)
                         .arg(qtext(straggler->operation))},
                    {.rank = straggler->rank}});
  addStalls(report, rows);
  addChanges(report, rows);
  for (const auto& lost : report.facts.lost)
    rows.push_back({{tr("lost"),
                     tr("%L1 records of %2 (%3): %4")
                         .arg(lost.count)
                         .arg(qtext(lost.probe), qtext(lost.kind), qtext(lost.reason))}});
  for (const auto& warning : report.facts.warnings)
    rows.push_back({{tr("warning"), qtext(warning.text)}});
  if (!report.path.reason.empty())
    rows.push_back({{tr("critical path"), qtext(report.path.reason)}});
  return rows;
}

}  // namespace sonde::gui
