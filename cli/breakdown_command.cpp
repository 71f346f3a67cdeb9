#include "analysis/engine/breakdown/breakdown.h"
#include "analysis/store/trace_name.h"
#include "cli/breakdown_names.h"
#include "cli/breakdown_plot.h"
#include "cli/command.h"
#include "cli/correction_options.h"
#include "cli/open_job.h"
#include "cli/report_times.h"
#include "cli/table.h"
#include "cli/word_option.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace sonde::cli {
namespace {

namespace breakdown = engine::breakdown;
using breakdown::Dimensions;
using nlohmann::json;

enum class Scope { Launch, Execution };

struct NamedDimension {
  const char* word;
  bool Dimensions::*chosen;
};
constexpr std::array<NamedDimension, 8> kDimensions = {{{"rank", &Dimensions::process},
                                                        {"thread", &Dimensions::thread},
                                                        {"phase", &Dimensions::phase},
                                                        {"operation", &Dimensions::operation},
                                                        {"module", &Dimensions::module},
                                                        {"iteration", &Dimensions::iteration},
                                                        {"category", &Dimensions::category},
                                                        {"resource", &Dimensions::resource}}};

class BreakdownCommand : public Command {
 public:
  const char* name() const override { return "breakdown"; }
  const char* summary() const override {
    return "where the time of an operation went: host, devices, network, and what overlaps";
  }
  const char* details() const override {
    return "Each row is a part of the wall time, and all rows sum to it: in which operations it "
           "was, and what the process\n"
           "and its devices did at once. --by takes these words, with commas:\n"
           "  rank       each process by itself\n"
           "  phase, operation, module  the innermost that the program or the framework opened; of "
           "several threads,\n"
           "             or of a device that works for another operation, all of them\n"
           "  iteration  by number\n"
           "  category   python, framework, simulator, cuda_api, comm_api, io, wait, other; on a "
           "device compute,\n"
           "             copy, comm; net: the network\n"
           "  resource   cpu, gpu, or both\n"
           "  thread     each thread by itself, without devices\n\n"
           "Examples:\n"
           "  sonde breakdown job.sonde\n"
           "  sonde breakdown rank0.sonde rank1.sonde --by rank,operation,resource\n"
           "  sonde breakdown job.sonde --by iteration,category --format csv\n"
           "  sonde breakdown job.sonde --by rank,operation,category --plot job.svg\n";
  }
  void declare(CLI::App& app) override {
    addFormatOption(app, format_);
    app.add_option(
           "--by", by_, "what rows are told apart by (operation,category; with --plot rank, too)")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("WORDS");
    const OptionWords<Scope> scopes{{"launch", Scope::Launch}, {"execution", Scope::Execution}};
    takeOneOf(
        scopes,
        "scope",
        app.add_option("--scope",
                       scope_,
                       "whose a device's work is: of what launched it, or was open (launch)"));
    addCorrectionOptions(app, correction_);
    app.add_flag("--transitions", transitions_, "how often each category was entered, instead");
    app.add_option("--plot", plot_, "also draw the rows as bars: a .svg or .png file")
        ->type_name("FILE");
    app.add_flag("-f,--force", force_, "replace the picture when it exists");
    app.add_option("TRACE", traces_, "traces of one job")->required();
  }
  int run() override;

 private:
  Result<breakdown::Options> options() const;
  Result<void> checkPlot() const;
  Result<void> plot(const store::Database& trace,
                    const breakdown::Breakdown& rows,
                    const breakdown::Options& options) const;
  std::string render(const breakdown::Breakdown& result, const breakdown::Options& options) const;

  Format format_ = Format::Table;
  std::vector<std::string> by_;
  Scope scope_ = Scope::Launch;
  CorrectionOptions correction_;
  bool transitions_ = false;
  std::string plot_;
  bool force_ = false;
  std::vector<std::string> traces_;
};

Result<breakdown::Options> BreakdownCommand::options() const {
  breakdown::Options options;
  options.atLaunch = scope_ == Scope::Launch;
  options.correct = !correction_.raw;
  for (const std::string& word : by_) {
    bool known = false;
    for (const NamedDimension& dimension : kDimensions) {
      if (word != dimension.word)
        continue;
      options.by.*dimension.chosen = true;
      known = true;
    }
    if (known)
      continue;
    std::vector<std::string> words;
    for (const NamedDimension& dimension : kDimensions)
      words.emplace_back(dimension.word);
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("there is nothing to tell rows apart by called '{}': use {}",
                             word,
                             fmt::join(words, ", "))};
  }
  if (transitions_)
    options.by.category = true;
  return options;
}

// Whose a row is: of a job of one process that one's.
const breakdown::ProcessTotal* processOf(const breakdown::Group& group,
                                         const breakdown::Breakdown& result,
                                         const BreakdownProcesses& processes) {
  if (group.processId)
    return processes.at(*group.processId);
  return result.processes.size() == 1 ? &result.processes.front() : nullptr;
}

// Null outside of all, one alone by itself.
json setJson(const std::vector<std::string>& names) {
  if (names.empty())
    return nullptr;
  return names.size() == 1 ? json(names.front()) : json(names);
}

template <typename T>
json orNull(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

json groupJson(const breakdown::Group& group,
               const breakdown::ProcessTotal* process,
               const breakdown::Breakdown& result) {
  return {{"process", process == nullptr ? json(nullptr) : json(process->pid)},
          {"rank", process == nullptr ? json(nullptr) : orNull(process->rank)},
          {"thread", group.threadId ? json(result.tids.at(*group.threadId)) : json(nullptr)},
          {"phase", setJson(group.phases)},
          {"operation", setJson(group.operations)},
          {"module", setJson(group.modules)},
          {"iteration", orNull(group.iteration)}};
}

json documentOf(const breakdown::Breakdown& result, const std::vector<std::string>& by) {
  const BreakdownProcesses processes = processesOf(result);
  json document = {{"schema", 1},
                   {"by", by},
                   {"total_ns", result.totalNs},
                   {"raw_total_ns", result.rawTotalNs},
                   {"corrected", result.corrected},
                   {"masked_ns", result.maskedNs},
                   {"unexplained", unexplainedJson(result.unexplained)},
                   {"negative_durations", result.negative},
                   {"overhead", json::array()},
                   {"overhead_unknown", json::array()},
                   {"processes", json::array()},
                   {"rows", json::array()},
                   {"transitions", json::array()}};
  for (const breakdown::ProcessTotal& process : result.processes)
    document["processes"].push_back(
        {{"process", process.pid}, {"rank", orNull(process.rank)}, {"ns", process.wallNs}});
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

// The columns of a group, and its cells.
void addGroupColumns(const Dimensions& by, Table& table) {
  if (by.process || by.thread)
    table.columns.push_back({"process", "process"});
  if (by.thread)
    table.columns.push_back({"thread", "thread", ColumnKind::Number});
  if (by.phase)
    table.columns.push_back({"phase", "phase"});
  if (by.operation)
    table.columns.push_back({"operation", "operation"});
  if (by.module)
    table.columns.push_back({"module", "module"});
  if (by.iteration)
    table.columns.push_back({"iteration", "iteration", ColumnKind::Number});
}

std::vector<Cell> groupCells(const Dimensions& by,
                             const breakdown::Group& group,
                             const breakdown::Breakdown& result,
                             const BreakdownProcesses& processes) {
  std::vector<Cell> cells;
  if (group.processId)
    cells.emplace_back(nameOf(*processes.at(*group.processId), result));
  if (by.thread)
    cells.emplace_back(group.threadId ? Cell(result.tids.at(*group.threadId)) : Cell());
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

Table rowTable(const breakdown::Breakdown& result, const Dimensions& by) {
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
  const BreakdownProcesses processes = processesOf(result);
  for (const breakdown::Row& row : result.rows) {
    std::vector<Cell> cells = groupCells(by, row.group, result, processes);
    if (by.category)
      cells.emplace_back(fmt::format("{}", fmt::join(row.group.categories, " + ")));
    if (by.category || by.resource)
      cells.emplace_back(std::string(breakdown::word(row.group.resource.value())));
    cells.emplace_back(row.ns);
    if (result.corrected)
      for (const std::int64_t ns : {row.lowNs, row.highNs, row.rawNs})
        cells.emplace_back(ns);
    cells.emplace_back(static_cast<double>(row.ns) / static_cast<double>(result.totalNs));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

Table enteredTable(const breakdown::Breakdown& result, const Dimensions& by) {
  Table table;
  addGroupColumns(by, table);
  table.columns.push_back({"category", "entered"});
  table.columns.push_back({"count", "times", ColumnKind::Integer});
  const BreakdownProcesses processes = processesOf(result);
  for (const breakdown::Entered& entered : result.entered) {
    std::vector<Cell> cells = groupCells(by, entered.group, result, processes);
    cells.emplace_back(std::string(entered.category));
    cells.emplace_back(entered.count);
    table.rows.push_back(std::move(cells));
  }
  return table;
}

// What a reader of the table has to know.
std::string notesOf(const breakdown::Breakdown& result) {
  std::string text;
  if (result.corrected)
    text += fmt::format(
        "\nWhat recording cost ({} of {}) is taken out; from and to: where 95 % of "
        "the errors of that leave the time.\n",
        humanDuration(result.rawTotalNs - result.totalNs),
        humanDuration(result.rawTotalNs));
  if (result.unexplained.isCertain())
    text += fmt::format("\nCorrected, {}: from and to allow for it.\n",
                        unexplainedText(result.unexplained));
  if (!result.unknownCosts.empty()) {
    std::vector<std::string> events;
    for (const breakdown::UnknownCost& unknown : result.unknownCosts)
      events.push_back(
          fmt::format("{} {} {}", humanCount(unknown.count), unknown.probe, unknown.api));
    text += fmt::format(
        "\nThe trace does not say what these cost to record, so they count as free: {}.\n",
        fmt::join(events, ", "));
  }
  if (result.maskedNs > 0)
    text += fmt::format(
        "\n{} are left out, of iterations of which not all was recorded, or during which the "
        "recorder stored.\n",
        humanDuration(result.maskedNs));
  return text;
}

std::string BreakdownCommand::render(const breakdown::Breakdown& result,
                                     const breakdown::Options& options) const {
  if (format_ == Format::Json)
    return dumpJson(documentOf(result, by_));
  const Table table =
      transitions_ ? enteredTable(result, options.by) : rowTable(result, options.by);
  if (format_ == Format::Csv)
    return renderCsv(table);
  std::string text = fmt::format("{} {}, {} {}\n\n",
                                 humanDuration(result.totalNs),
                                 options.by.thread ? "of threads' time" : "of wall time",
                                 result.processes.size(),
                                 result.processes.size() == 1 ? "process" : "processes");
  text += renderText(table);
  text += notesOf(result);
  if (result.negative > 0)
    text += fmt::format("\n{} events end before they begin: they take no time here.\n",
                        humanCount(result.negative));
  return text;
}

Result<void> BreakdownCommand::checkPlot() const {
  if (plot_.empty())
    return {};
  if (transitions_)
    return Error{ErrorCode::InvalidArgument,
                 "--plot draws times, not transitions: give one of both"};
  SONDE_TRY(checkPlotName(plot_));
  SONDE_TRY(checkApart(plot_, traces_));
  return store::checkOutput(plot_, force_);
}

// Without categories rows are bars, and their intervals those of bars.
Result<void> BreakdownCommand::plot(const store::Database& trace,
                                    const breakdown::Breakdown& rows,
                                    const breakdown::Options& options) const {
  breakdown::Options ofBars = options;
  ofBars.by.category = ofBars.by.resource = false;
  SONDE_TRY_ASSIGN(const breakdown::Breakdown bars, breakdown::breakDown(trace, ofBars));
  return writePlot(plotOf(rows, bars, options.by, traces_), plot_, force_);
}

int BreakdownCommand::run() {
  if (by_.empty() && !plot_.empty())
    by_ = {"rank", "operation", "category"};
  if (by_.empty())
    by_ = {"operation", "category"};
  auto chosen = options();
  if (!chosen)
    return fail(name(), chosen.error());
  if (const auto checked = checkPlot(); !checked)
    return fail(name(), checked.error());
  auto job = Job::open(name(), traces_);
  if (!job)
    return fail(name(), job.error());
  const auto measured = measuredCosts(correction_, job->database());
  if (!measured)
    return fail(name(), measured.error());
  chosen->measured = *measured ? &**measured : nullptr;
  const auto result = breakdown::breakDown(job->database(), *chosen);
  if (!result)
    return fail(name(), result.error());
  if (!plot_.empty())
    if (const auto drawn = plot(job->database(), *result, *chosen); !drawn)
      return fail(name(), drawn.error());
  printOut(render(*result, *chosen));
  return kExitOk;
}

}  // namespace

std::unique_ptr<Command> makeBreakdownCommand() {
  return std::make_unique<BreakdownCommand>();
}

}  // namespace sonde::cli
