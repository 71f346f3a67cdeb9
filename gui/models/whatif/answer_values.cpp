#include "gui/models/whatif/answer_values.h"

#include "gui/trace/qtext.h"
#include "gui/trace/time_format.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace sonde::gui {
namespace {

namespace critical = engine::critical;
namespace optimise = engine::optimise;
using engine::whatif::Answer;
using engine::whatif::ChangedShare;
using engine::whatif::Origin;

QString tr(const char* text) {
  return QCoreApplication::translate("Whatif", text);
}

QString textOf(double ns) {
  return formatDuration(std::llround(ns));
}

QVariant rounded(double ns) {
  return QVariant::fromValue<qlonglong>(std::llround(ns));
}

QString percent(double share) {
  return tr("%1 %").arg(100 * share, 0, 'f', 1);
}

double shareOf(const Answer& answer, Origin origin) {
  return answer.originShares[static_cast<std::size_t>(origin)];
}

ValueRow rowOf(const optimise::Change& change, double ns, double gain, QVariant inPlan) {
  return {{qtext(change.what),
           qtext(change.setting),
           rounded(ns),
           gain,
           std::move(inPlan),
           qtext(change.question)}};
}

}  // namespace

QString headlineOf(const Answer& answer) {
  return tr("%1 instead of %2: %3 times as fast")
      .arg(textOf(answer.predictedNs), textOf(answer.baselineNs))
      .arg(answer.speedup(), 0, 'f', 2);
}

QStringList remarksOf(const Answer& answer) {
  QStringList remarks;
  remarks << tr("The mean iteration lies between %1 and %2 in 95 of 100 cases.")
                 .arg(textOf(answer.lowNs), textOf(answer.highNs));
  remarks << tr("Of the predicted time %1 was measured, %2 scaled, %3 modelled; a replay without a "
                "change is %4 % off.")
                 .arg(percent(shareOf(answer, Origin::Measured)),
                      percent(shareOf(answer, Origin::Scaled)),
                      percent(shareOf(answer, Origin::Modelled)))
                 .arg(100 * std::abs(answer.identityError), 0, 'f', 2);
  if (answer.iterations == 0)
    remarks << tr("The trace has no iterations: the times are those of the whole trace.");
  for (const std::string& note : answer.notes)
    remarks << qtext(note);
  return remarks;
}

std::vector<CauseTime> causeTimes(const Answer& answer) {
  std::map<critical::PathCause, CauseTime> causes;
  for (const ChangedShare& each : answer.before)
    causes[each.cause].nowNs += each.share * answer.baselineNs;
  for (const ChangedShare& each : answer.after)
    causes[each.cause].thenNs += each.share * answer.predictedNs;
  std::vector<CauseTime> times;
  for (auto& [cause, time] : causes) {
    time.cause = cause;
    times.push_back(time);
  }
  return times;
}

std::vector<ValueColumn> changedPathColumns() {
  return {{tr("where")},
          {tr("cause")},
          {tr("what")},
          {tr("now"), ValueKind::Duration, tr("mean of an iteration")},
          {tr("then"), ValueKind::Duration, tr("mean of an iteration")},
          {tr("difference"), ValueKind::Duration}};
}

std::vector<ValueRow> changedPathRows(const Answer& answer) {
  using Key = std::tuple<std::string, critical::PathCause, std::string>;
  std::map<Key, std::pair<double, double>> parts;  // now and then
  for (const ChangedShare& each : answer.before)
    parts[{each.entity, each.cause, each.what}].first += each.ns;
  for (const ChangedShare& each : answer.after)
    parts[{each.entity, each.cause, each.what}].second += each.ns;
  using Part = std::pair<Key, std::pair<double, double>>;
  std::vector<Part> sorted(parts.begin(), parts.end());
  const auto change = [](const Part& part) {
    return std::abs(part.second.second - part.second.first);
  };
  std::stable_sort(sorted.begin(), sorted.end(), [&](const Part& left, const Part& right) {
    return change(left) > change(right);
  });
  std::vector<ValueRow> rows;
  for (const auto& [key, ns] : sorted) {
    const auto& [entity, cause, what] = key;
    rows.push_back({{qtext(entity),
                     spaced(critical::nameOf(cause)),
                     qtext(what),
                     rounded(ns.first),
                     rounded(ns.second),
                     rounded(ns.second - ns.first)},
                    {.name = qtext(what)}});
  }
  return rows;
}

std::vector<ValueColumn> planColumns() {
  return {{tr("change")},
          {tr("setting"), ValueKind::Text, tr("in the training program")},
          {tr("alone"), ValueKind::Duration, tr("an iteration with this change only")},
          {tr("gain"), ValueKind::Share, tr("the saved part of an iteration, alone")},
          {tr("in the plan"), ValueKind::Share, tr("the plan saves this part only with it")},
          {tr("question"), ValueKind::Text, tr("the option of sonde whatif")}};
}

std::vector<ValueRow> planRows(const optimise::Plan& plan, std::vector<TriedChange>& tried) {
  std::vector<ValueRow> rows;
  tried.clear();
  for (const optimise::PlannedChange& each : plan.changes) {
    rows.push_back(rowOf(each.change, each.alone.ns, each.gain, each.gainInPlan));
    tried.push_back({{qtext(each.change.question), each.change.ask}, true});
  }
  for (const optimise::OtherChange& each : plan.others) {
    rows.push_back(rowOf(each.change, each.ns, each.gain, {}));
    tried.push_back({{qtext(each.change.question), each.change.ask}, false});
  }
  return rows;
}

QString planText(const optimise::Plan& plan) {
  if (plan.changes.empty())
    return plan.isComplete ? tr("None of the settings that were tried saves more than 1 % of an "
                                "iteration, which takes %1.")
                                 .arg(textOf(plan.baselineNs))
                           : tr("The search was stopped before it found a setting that saves more "
                                "than 1 % of an iteration.");
  return tr("An iteration takes %1 now, and %2 with the whole plan (between %3 and %4): %5 times "
            "as fast.%6")
      .arg(textOf(plan.baselineNs),
           textOf(plan.together.ns),
           textOf(plan.together.lowNs),
           textOf(plan.together.highNs))
      .arg(plan.gain < 1 ? 1 / (1 - plan.gain) : 0, 0, 'f', 2)
      .arg(plan.isComplete ? QString() : tr(" The search was stopped: there may be a better one."));
}

QStringList leftOutTexts(const optimise::Plan& plan) {
  QStringList texts;
  for (const optimise::LeftOut& each : plan.leftOut)
    texts << QStringLiteral("%1: %2").arg(qtext(each.family), qtext(each.reason));
  return texts;
}

}  // namespace sonde::gui
