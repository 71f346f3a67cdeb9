#include "cli/optimize/plan_output.h"

#include "cli/text/json_value.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

namespace sonde::cli {
namespace {

using engine::optimise::OtherChange;
using engine::optimise::Plan;
using engine::optimise::PlannedChange;
using engine::optimise::Prediction;

constexpr int kWidth = 140;

std::int64_t rounded(double ns) {
  return std::llround(ns);
}

double speedupOf(const Plan& plan) {
  return plan.gain < 1 ? 1 / (1 - plan.gain) : 0;
}

Table othersTable(const Plan& plan) {
  Table table{{textColumn("what", "change"),
               textColumn("setting", "setting"),
               textColumn("question", "question"),
               durationColumn("predicted_ns", "alone"),
               shareColumn("gain", "gain")},
              {}};
  for (const OtherChange& each : plan.others)
    table.rows.push_back(
        {each.change.what, each.change.setting, each.change.question, rounded(each.ns), each.gain});
  return table;
}

Table leftOutTable(const Plan& plan) {
  Table table{{textColumn("question", "question"), textColumn("reason", "reason")}, {}};
  for (const auto& each : plan.leftOut)
    table.rows.push_back({each.family, each.reason});
  return table;
}

// For people: without the columns that only programs need.
std::string shown(const char* title, Table table, const std::vector<std::string>& hidden) {
  if (table.rows.empty())
    return "";
  for (std::size_t column = table.columns.size(); column-- > 0;) {
    const std::string& key = table.columns[column].key;
    if (std::find(hidden.begin(), hidden.end(), key) == hidden.end())
      continue;
    const auto at = static_cast<std::ptrdiff_t>(column);
    table.columns.erase(table.columns.begin() + at);
    for (auto& row : table.rows)
      row.erase(row.begin() + at);
  }
  return fmt::format("\n{}\n{}", title, renderText(table, 2, kWidth));
}

std::string summaryOf(const Plan& plan) {
  const std::string now = fmt::format("{} takes {}",
                                      plan.iterations == 0 ? "the whole trace" : "an iteration",
                                      humanDuration(rounded(plan.baselineNs)));
  if (plan.changes.empty() && !plan.isComplete)
    return now +
           "; the search was stopped before it found a change that saves more than 1 % of it "
           "(--budget)\n";
  if (plan.changes.empty())
    return now + "; no change that was tried saves more than 1 % of it\n";
  const std::string samples =
      plan.samples == 1 ? "" : fmt::format(" with {:g} times as many samples", plan.samples);
  return fmt::format("{}, and {} with the plan{} (between {} and {}): {:.2f} times as fast\n",
                     now,
                     humanDuration(rounded(plan.together.ns)),
                     samples,
                     humanDuration(rounded(plan.together.lowNs)),
                     humanDuration(rounded(plan.together.highNs)),
                     speedupOf(plan));
}

nlohmann::json memoryOf(const Plan& plan) {
  if (!plan.memory)
    return nullptr;
  return {{"place", plan.memory->place},
          {"peak_bytes", plan.memory->peakBytes},
          {"between_bytes", plan.memory->betweenBytes},
          {"planned_peak_bytes", rounded(plan.peakBytes)}};
}

}  // namespace

Table planTable(const Plan& plan) {
  Table table{{textColumn("what", "change"),
               textColumn("setting", "setting"),
               textColumn("question", "question"),
               durationColumn("predicted_ns", "alone"),
               durationColumn("low_ns", "at least"),
               durationColumn("high_ns", "at most"),
               shareColumn("gain", "gain"),
               shareColumn("gain_in_plan", "in the plan")},
              {}};
  for (const PlannedChange& each : plan.changes)
    table.rows.push_back({each.change.what,
                          each.change.setting,
                          each.change.question,
                          rounded(each.alone.ns),
                          rounded(each.alone.lowNs),
                          rounded(each.alone.highNs),
                          each.gain,
                          each.gainInPlan});
  return table;
}

nlohmann::json jsonOf(const Plan& plan, double seconds) {
  return {{"schema", 1},
          {"iterations", plan.iterations},
          {"baseline_ns", rounded(plan.baselineNs)},
          {"plan", rowsAsObjects(planTable(plan))},
          {"questions", plan.questions},
          {"together_ns", rounded(plan.together.ns)},
          {"together_low_ns", rounded(plan.together.lowNs)},
          {"together_high_ns", rounded(plan.together.highNs)},
          {"together_gain", plan.gain},
          {"together_samples", plan.samples},
          {"others", rowsAsObjects(othersTable(plan))},
          {"left_out", rowsAsObjects(leftOutTable(plan))},
          {"memory", memoryOf(plan)},
          {"complete", plan.isComplete},
          {"replays", plan.replays},
          {"seconds", seconds},
          {"notes", plan.notes}};
}

std::string textOf(const Plan& plan, double seconds) {
  std::string text = summaryOf(plan);
  text += shown("the plan", planTable(plan), {"question", "low_ns", "high_ns"});
  text += shown("tried, and not in the plan", othersTable(plan), {"question"});
  text += shown("not tried", leftOutTable(plan), {});
  if (!plan.changes.empty())
    text += fmt::format("\nthe same as one question: sonde whatif TRACE… {}\n",
                        fmt::join(plan.questions, " "));
  if (plan.memory)
    text += fmt::format("memory: {} holds {} at its peak now, and {} with the plan\n",
                        plan.memory->place,
                        humanBytes(plan.memory->peakBytes),
                        humanBytes(rounded(plan.peakBytes)));
  for (const std::string& note : plan.notes)
    text += "note: " + note + "\n";
  text += fmt::format("{} replays in {:.1f} s{}\n",
                      plan.replays,
                      seconds,
                      plan.isComplete ? "" : "; the search was stopped before its end");
  return text;
}

}  // namespace sonde::cli
