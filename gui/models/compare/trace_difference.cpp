#include "gui/models/compare/trace_difference.h"

#include "analysis/engine/diff/iteration_spans.h"
#include "analysis/engine/diff/iteration_times.h"
#include "analysis/engine/diff/run_files.h"
#include "analysis/engine/diff/run_times.h"
#include "analysis/store/trace_file.h"
#include "gui/trace/qtext.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace sonde::gui {
namespace {

namespace diff = engine::diff;
using diff::Verdict;

constexpr diff::Dimensions kBy{.operation = true, .kernel = true};

QString tr(const char* text) {
  return QCoreApplication::translate("Compare", text);
}

Result<std::vector<diff::RunFiles>> runsOf(const QStringList& paths) {
  std::vector<std::string> words;
  for (const QString& path : paths)
    words.push_back(path.toStdString());
  return diff::runsOf(words);
}

Result<std::vector<diff::RunTimes>> readSide(const QStringList& paths,
                                             bool isCorrected,
                                             const std::optional<Iterations>& only,
                                             const store::StopCheck& isToStop) {
  SONDE_TRY_ASSIGN(const std::vector<diff::RunFiles> runs, runsOf(paths));
  const auto read = [&](const std::string& path) -> Result<std::vector<diff::IterationTimes>> {
    SONDE_TRY_ASSIGN(const store::Database trace, store::openTrace(path));
    trace.stopWhen(isToStop);
    return diff::readIterationTimes(trace, kBy, {.wanted = isCorrected});
  };
  diff::IterationChoice choice;
  if (only)
    choice.wanted = [&only](const diff::IterationName& each) { return only->contains(each); };
  return diff::readRuns(runs, read, kBy.rank, choice);
}

QVariant ns(double value, bool has) {
  return has ? QVariant::fromValue<qlonglong>(std::llround(value)) : QVariant();
}

QVariant optional(const std::optional<double>& value) {
  return value ? QVariant(*value) : QVariant();
}

bool differs(const diff::Row& row) {
  return row.verdict != Verdict::Same && row.verdict != Verdict::TooFew;
}

double movedNs(const diff::Row& row) {
  return std::abs(row.shown.b.ns - row.shown.a.ns);
}

QString withOccurrence(const QString& title, std::int64_t occurrence) {
  return occurrence == 0 ? title : tr("%1 (occurrence %2)").arg(title).arg(occurrence + 1);
}

QString percent(double share) {
  const double value = 100 * std::abs(share);
  return QString::number(value, 'f', value < 10 ? 1 : 0);
}

// For an iteration that is neither slower nor faster: names the smallest change that the runs show,
// and how smaller ones are found.
QString sameText(const diff::Diff& diff) {
  constexpr double kFine = 0.02;
  const std::optional<double>& detectable = diff.rows.front().detectable;
  const QString found = std::any_of(diff.rows.begin(), diff.rows.end(), differs)
                            ? tr("Parts of an iteration differ, but no difference of the whole "
                                 "iteration was found.")
                            : tr("No difference found.");
  const QString advice =
      tr(" To see smaller changes, record more runs of both, such as five each.");
  if (!detectable)
    return found + advice;
  const QString limit =
      tr(" Only a change of more than %1 % would have shown.").arg(percent(*detectable));
  return *detectable > kFine ? found + limit + advice : found + limit;
}

}  // namespace

Result<Comparison> compareTraces(const store::Database& opened, const ComparisonRequest& request) {
  Comparison result;
  SONDE_TRY_ASSIGN(result.iterations, iterationsIn(opened, request.within));
  const auto read = [&](const QStringList& paths) {
    return readSide(paths, request.isCorrected, result.iterations, opened.stopCheck());
  };
  SONDE_TRY_ASSIGN(const std::vector<diff::RunTimes> before, read(request.before));
  SONDE_TRY_ASSIGN(const std::vector<diff::RunTimes> after, read(request.after));
  SONDE_TRY_ASSIGN(result.diff, diff::diff(before, after, {}));
  return result;
}

Result<std::optional<Iterations>> iterationsIn(
    const store::Database& opened, const std::optional<engine::metrics::Interval>& within) {
  if (!within)
    return std::optional<Iterations>();
  SONDE_TRY_ASSIGN(Iterations iterations, diff::readIterationsWithin(opened, *within));
  if (iterations.empty())
    return Error{ErrorCode::NotFound,
                 tr("No whole iteration lies in the selected span: select a longer one in the "
                    "timeline, or click the span in the tool bar to compare all iterations.")
                     .toStdString()};
  return std::optional(std::move(iterations));
}

QString titleOf(const diff::IterationName& iteration) {
  return withOccurrence(tr("iteration %1").arg(iteration.number), iteration.occurrence);
}

QString titleOf(const Iterations& iterations) {
  std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> ranges;  // by occurrence
  for (const auto& [number, occurrence] : iterations)
    ranges.emplace(occurrence, std::pair(number, number)).first->second.second = number;
  QStringList parts;
  for (const auto& [occurrence, range] : ranges)
    parts << (range.first == range.second
                  ? titleOf(diff::IterationName{range.first, occurrence})
                  : withOccurrence(tr("iterations %1 to %2").arg(range.first).arg(range.second),
                                   occurrence));
  return parts.join(tr(" and "));
}

Result<QStringList> firstRun(const QStringList& paths) {
  SONDE_TRY_ASSIGN(const std::vector<diff::RunFiles> runs, runsOf(paths));
  QStringList files;
  if (!runs.empty())
    for (const std::string& file : runs.front())
      files << QString::fromStdString(file);
  return files;
}

QString sentenceOf(const diff::Diff& diff) {
  if (diff.rows.empty())
    return {};
  const diff::Row& iteration = diff.rows.front();
  const auto& shown = iteration.shown;
  if (iteration.verdict == Verdict::TooFew)
    return tr("There are too few iterations to find a difference: record longer runs.");
  if (!differs(iteration) || !shown.change)
    return sameText(diff);
  QString text = iteration.verdict == Verdict::Slower ? tr("An iteration takes %1 % longer")
                                                      : tr("An iteration takes %1 % less time");
  text = text.arg(percent(*shown.change));
  if (shown.low && shown.high)
    text += tr(" (%1 to %2 %)").arg(percent(*shown.low), percent(*shown.high));
  return text + u'.';
}

std::vector<ValueColumn> differenceColumns() {
  return {{tr("what")},
          {tr("kind")},
          {tr("verdict")},
          {tr("before"), ValueKind::Duration, tr("in an iteration")},
          {tr("after"), ValueKind::Duration, tr("in an iteration")},
          {tr("change of time"), ValueKind::Duration},
          {tr("change"), ValueKind::Share},
          {tr("at least"), ValueKind::Share, tr("95 % interval")},
          {tr("at most"), ValueKind::Share, tr("95 % interval")}};
}

std::vector<ValueRow> differenceRows(const diff::Diff& diff) {
  std::vector<const diff::Row*> ordered;
  for (const diff::Row& row : diff.rows)
    ordered.push_back(&row);
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto* one, const auto* other) {
    const auto place = [](const diff::Row& row) {
      return row.subject.kind == diff::Kind::Iteration ? 0 : differs(row) ? 1 : 2;
    };
    return place(*one) != place(*other) ? place(*one) < place(*other)
                                        : movedNs(*one) > movedNs(*other);
  });
  std::vector<ValueRow> rows;
  for (const diff::Row* row : ordered) {
    const bool hasBefore = row->verdict != Verdict::Added;
    const bool hasAfter = row->verdict != Verdict::Removed;
    const bool hasBoth = hasBefore && hasAfter;
    const QString name = row->subject.name                            ? qtext(*row->subject.name)
                         : row->subject.kind == diff::Kind::Iteration ? tr("iteration")
                                                                      : tr("outside of all");
    rows.push_back({{name,
                     qtext(diff::word(row->subject.kind)),
                     qtext(diff::word(row->verdict)),
                     ns(row->shown.a.ns, hasBefore),
                     ns(row->shown.b.ns, hasAfter),
                     ns((hasAfter ? row->shown.b.ns : 0) - (hasBefore ? row->shown.a.ns : 0), true),
                     hasBoth ? optional(row->shown.change) : QVariant(),
                     hasBoth ? optional(row->shown.low) : QVariant(),
                     hasBoth ? optional(row->shown.high) : QVariant()},
                    {.name = row->subject.name ? name : QString()}});
  }
  return rows;
}

}  // namespace sonde::gui
