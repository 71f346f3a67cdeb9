#include "cli/breakdown/breakdown_output.h"

#include "cli/breakdown/breakdown_names.h"
#include "cli/report/report_times.h"
#include "cli/text/json_value.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace sonde::cli {
namespace {

namespace breakdown = engine::breakdown;
using nlohmann::json;

// The process of a row; in a job with one process, that process.
const breakdown::ProcessTotal* processOf(const breakdown::Group& group,
                                         const breakdown::Breakdown& result,
                                         const BreakdownProcesses& processes) {
  if (group.processId)
    return processes.at(*group.processId);
  return result.processes.size() == 1 ? &result.processes.front() : nullptr;
}

// Null for an empty set; a single name without a list.
json setJson(const std::vector<std::string>& names) {
  if (names.empty())
    return nullptr;
  return names.size() == 1 ? json(names.front()) : json(names);
}

json groupJson(const breakdown::Group& group,
               const breakdown::ProcessTotal* process,
               const breakdown::Breakdown& result) {
  const breakdown::ThreadName* const thread =
      group.threadId ? &result.threads.at(*group.threadId) : nullptr;
  return {{"process_id", process == nullptr ? json(nullptr) : json(process->id)},
          {"process", process == nullptr ? json(nullptr) : json(process->pid)},
          {"rank", process == nullptr ? json(nullptr) : orNull(process->rank)},
          {"thread", thread == nullptr ? json(nullptr) : json(thread->tid)},
          {"thread_name", thread == nullptr ? json(nullptr) : json(thread->name)},
          {"phase", setJson(group.phases)},
          {"operation", setJson(group.operations)},
          {"module", setJson(group.modules)},
          {"iteration", orNull(group.iteration)}};
}

json repeatedJson(const std::optional<breakdown::RepeatedNumbers>& repeated) {
  if (!repeated)
    return nullptr;
  return {{"times", repeated->times}, {"first", repeated->first}, {"last", repeated->last}};
}

}  // namespace

json breakdownJson(const breakdown::Breakdown& result, const std::vector<std::string>& by) {
  const BreakdownProcesses processes = processesOf(result);
  json document = {{"schema", 1},
                   {"by", by},
                   {"total_ns", result.totalNs},
                   {"raw_total_ns", result.rawTotalNs},
                   {"corrected", result.corrected},
                   {"masked_ns", result.maskedNs},
                   {"repeated_iterations", repeatedJson(result.repeated)},
                   {"unexplained", unexplainedJson(result.unexplained)},
                   {"recorder_share", result.unexplained.recorder},
                   {"negative_durations", result.negative},
                   {"ends_unknown", result.endsUnknown},
                   {"overhead", json::array()},
                   {"overhead_unknown", json::array()},
                   {"processes", json::array()},
                   {"rows", json::array()},
                   {"transitions", json::array()}};
  for (const breakdown::ProcessTotal& process : result.processes)
    document["processes"].push_back({{"process_id", process.id},
                                     {"process", process.pid},
                                     {"host", process.host},
                                     {"command", process.command},
                                     {"rank", orNull(process.rank)},
                                     {"ns", process.wallNs}});
  for (const engine::correction::MeasuredCost& cost : result.costs)
    document["overhead"].push_back({{"probe", cost.probe},
                                    {"api", cost.api},
                                    {"mean_ns", cost.cost.sumNs()},
                                    {"error_ns", cost.errorNs},
                                    {"method", cost.method}});
  for (const breakdown::UnknownCost& unknown : result.unknownCosts)
    document["overhead_unknown"].push_back(
        {{"probe", unknown.probe}, {"api", unknown.api}, {"count", unknown.count}});
  for (const breakdown::Row& row : result.rows) {
    json object = groupJson(row.group, processOf(row.group, result, processes), result);
    object["categories"] =
        row.group.categories.empty() ? json(nullptr) : json(row.group.categories);
    object["resource"] =
        row.group.resource ? json(breakdown::word(*row.group.resource)) : json(nullptr);
    object["ns"] = row.ns;
    object["raw_ns"] = row.rawNs;
    object["low_ns"] = row.lowNs;
    object["high_ns"] = row.highNs;
    document["rows"].push_back(std::move(object));
  }
  for (const breakdown::Entered& entered : result.entered) {
    json object = groupJson(entered.group, processOf(entered.group, result, processes), result);
    object["category"] = entered.category;
    object["count"] = entered.count;
    document["transitions"].push_back(std::move(object));
  }
  return document;
}

namespace {

// The columns of a group, and its cells.
void addGroupColumns(const breakdown::Dimensions& by, Table& table) {
  if (by.process || by.thread)
    table.columns.push_back({"process", "process"});
  if (by.thread) {
    table.columns.push_back({"thread", "thread", ColumnKind::Number});
    table.columns.push_back({"thread_name", "named"});
  }
  if (by.phase)
    table.columns.push_back({"phase", "phase"});
  if (by.operation)
    table.columns.push_back({"operation", "operation"});
  if (by.module)
    table.columns.push_back({"module", "module"});
  if (by.iteration)
    table.columns.push_back({"iteration", "iteration", ColumnKind::Number});
}

std::vector<Cell> groupCells(const breakdown::Dimensions& by,
                             const breakdown::Group& group,
                             const breakdown::Breakdown& result,
                             const ProcessNames& names) {
  std::vector<Cell> cells;
  if (group.processId)
    cells.emplace_back(names.at(*group.processId));
  if (by.thread) {
    const breakdown::ThreadName thread =
        group.threadId ? result.threads.at(*group.threadId) : breakdown::ThreadName();
    cells.emplace_back(group.threadId ? Cell(thread.tid) : Cell());
    cells.emplace_back(thread.name);
  }
  if (by.phase)
    cells.emplace_back(joined(group.phases));
  if (by.operation)
    cells.emplace_back(joined(group.operations));
  if (by.module)
    cells.emplace_back(joined(group.modules));
  if (by.iteration)
    cells.emplace_back(group.iteration ? Cell(*group.iteration) : Cell());
  return cells;
}

}  // namespace

Table rowTable(const breakdown::Breakdown& result, const breakdown::Dimensions& by) {
  Table table;
  addGroupColumns(by, table);
  if (by.category)
    table.columns.push_back({"categories", "active at once"});
  if (by.category || by.resource)
    table.columns.push_back({"resource", "on"});
  table.columns.push_back({"ns", "time", ColumnKind::DurationNs});
  if (result.corrected) {
    table.columns.push_back({"low_ns", "from", ColumnKind::DurationNs});
    table.columns.push_back({"high_ns", "to", ColumnKind::DurationNs});
    table.columns.push_back({"raw_ns", "recorded", ColumnKind::DurationNs});
  }
  table.columns.push_back({"share", "share", ColumnKind::Fraction});
  const ProcessNames names = namesOf(result);
  for (const breakdown::Row& row : result.rows) {
    std::vector<Cell> cells = groupCells(by, row.group, result, names);
    if (by.category)
      cells.emplace_back(fmt::format("{}", fmt::join(row.group.categories, " + ")));
    if (by.category || by.resource)
      cells.emplace_back(std::string(breakdown::word(row.group.resource.value())));
    cells.emplace_back(row.ns);
    if (result.corrected)
      for (const std::int64_t ns : {row.lowNs, row.highNs, row.rawNs})
        cells.emplace_back(ns);
    // If recording took all of the time, no total is left to compute a share of.
    cells.emplace_back(result.totalNs > 0
                           ? Cell(static_cast<double>(row.ns) / static_cast<double>(result.totalNs))
                           : Cell());
    table.rows.push_back(std::move(cells));
  }
  return table;
}

Table enteredTable(const breakdown::Breakdown& result, const breakdown::Dimensions& by) {
  Table table;
  addGroupColumns(by, table);
  table.columns.push_back({"category", "entered"});
  table.columns.push_back({"count", "times", ColumnKind::Integer});
  const ProcessNames names = namesOf(result);
  for (const breakdown::Entered& entered : result.entered) {
    std::vector<Cell> cells = groupCells(by, entered.group, result, names);
    cells.emplace_back(std::string(entered.category));
    cells.emplace_back(entered.count);
    table.rows.push_back(std::move(cells));
  }
  return table;
}

namespace {

// The recorder may have made the job longer, by an unknown amount. A negligible share is not
// mentioned.
std::string recorderText(double share) {
  constexpr double kLeast = 0.0005;
  return share < kLeast
             ? ""
             : fmt::format(
                   "; `from` also allows for the recorder, which used {:.1f} % of a processor",
                   100 * share);
}

}  // namespace

std::string notesOf(const breakdown::Breakdown& result) {
  std::string text;
  if (result.corrected)
    text += fmt::format(
        "\n"
        "The cost of recording ({} of {}) is subtracted. 95 % of the errors of that leave a time "
        "between from and to{}.\n",
        humanDuration(result.rawTotalNs - result.totalNs),
        humanDuration(result.rawTotalNs),
        recorderText(result.unexplained.recorder));
  if (result.unexplained.isCertain())
    text += fmt::format("\nAfter the correction, {}. The columns from and to allow for it.\n",
                        unexplainedText(result.unexplained));
  if (!result.unknownCosts.empty()) {
    std::vector<std::string> events;
    for (const breakdown::UnknownCost& unknown : result.unknownCosts)
      events.push_back(
          fmt::format("{} {} {}", humanCount(unknown.count), unknown.probe, unknown.api));
    text += fmt::format(
        "\nThe trace has no recording cost of these events, so nothing is subtracted for them: "
        "{}.\n",
        fmt::join(events, ", "));
  }
  if (result.maskedNs > 0)
    text += fmt::format(
        "\n"
        "{} are left out: iterations that were recorded in part, or during which the recorder "
        "stored records.\n",
        humanDuration(result.maskedNs));
  if (result.repeated)
    text += fmt::format(
        "\n"
        "Iteration numbers repeat ({} to {}, up to {} times in a process). A row sums all "
        "iterations of its number.\n",
        result.repeated->first,
        result.repeated->last,
        result.repeated->times);
  if (result.negative > 0)
    text += fmt::format("\n{} events end before they begin. They count as 0.\n",
                        humanCount(result.negative));
  if (result.endsUnknown > 0)
    text +=
        fmt::format("\n{} kernels, copies or transfers have no recorded end. They count as 0.\n",
                    humanCount(result.endsUnknown));
  return text;
}

}  // namespace sonde::cli
