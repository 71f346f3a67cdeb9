#include "analysis/engine/summaries/summaries.h"
#include "base/suggest.h"
#include "cli/shell/command.h"
#include "cli/shell/open_job.h"
#include "cli/shell/time_option.h"
#include "cli/text/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace sonde::cli {
namespace {

namespace metrics = engine::metrics;

class StatsCommand : public Command {
 public:
  const char* name() const override { return "stats"; }
  const char* summary() const override { return "print summary tables like those of 'nsys stats'"; }
  const char* details() const override {
    return "Without NAME, prints all tables that have rows. NAME is one of nvtx_sum, "
           "nvtx_pushpop_sum, "
           "nvtx_startend_sum,\n"
           "osrt_sum, mpi_event_sum, cuda_api_sum, cuda_gpu_kern_sum, cuda_gpu_mem_time_sum, "
           "cuda_gpu_mem_size_sum,\n"
           "cuda_gpu_sum, cuda_kern_exec_sum, nvtx_kern_sum, nvtx_gpu_proj_sum.\n\n"
           "Examples:\n"
           "  sonde stats job.sonde cuda_gpu_kern_sum\n"
           "  sonde stats rank0.sonde rank1.sonde nvtx_sum --format csv\n"
           "  sonde stats job.sonde cuda_gpu_kern_sum --time 1.2s..1.5s\n";
  }
  void declare(CLI::App& app) override {
    addFormatOption(app, format_);
    addTimeOption(app, time_, "only what lies in this time, since the begin of the trace");
    app.add_option("TRACE… NAME", words_, "traces of one job, then the table")
        ->required()
        ->expected(1, CLI::detail::expected_max_vector_size);
  }
  int run() override;

 private:
  // Removes the name from the end of the words, if there is one.
  Result<void> takeName();
  Result<void> show(const store::Database& trace);

  Format format_ = Format::Table;
  std::string time_;
  std::vector<std::string> words_;
  std::string table_;
};

bool isSummary(const std::string& word) {
  const auto names = metrics::summaryNames();
  return std::any_of(
      names.begin(), names.end(), [&](const auto& each) { return each.name == word; });
}

// Formats a fractional value with separators and Nsight's number of decimals.
std::string decimalText(double value, int decimals) {
  const std::string text = fmt::format("{:.{}f}", value, decimals);
  const std::size_t point = text.find('.');
  return humanCount(std::stoll(text.substr(0, point))) + text.substr(point);
}

Cell cellOf(const metrics::SummaryCell& cell, const metrics::SummaryColumn& column, Format format) {
  const auto* real = std::get_if<double>(&cell);
  if (real != nullptr && format == Format::Table)
    return decimalText(*real, column.decimals);
  return std::visit([](const auto& value) { return Cell(value); }, cell);
}

ColumnKind kindOf(const metrics::SummaryColumn& column) {
  using Kind = metrics::SummaryColumn::Kind;
  return column.kind == Kind::Text ? ColumnKind::Text
         : column.kind == Kind::Id ? ColumnKind::Number
                                   : ColumnKind::Integer;
}

Table tableOf(const metrics::SummaryTable& summary, Format format) {
  Table table;
  for (const metrics::SummaryColumn& column : summary.columns)
    table.columns.push_back({column.title, column.title, kindOf(column)});
  for (const auto& row : summary.rows) {
    std::vector<Cell>& cells = table.rows.emplace_back();
    for (std::size_t at = 0; at < row.size(); ++at)
      cells.push_back(cellOf(row[at], summary.columns[at], format));
  }
  return table;
}

// An unknown name is taken for a file; if there is no such file, it was meant as a name.
Result<void> StatsCommand::takeName() {
  const std::string& last = words_.back();
  std::error_code ignored;
  if (words_.size() > 1 && isSummary(words_.front()) &&
      !std::filesystem::exists(words_.front(), ignored))
    return Error{
        ErrorCode::InvalidArgument,
        fmt::format("the name of a table goes last: sonde stats TRACE… {}", words_.front())};
  if (isSummary(last)) {
    table_ = last;
    words_.pop_back();
  } else if (words_.size() > 1 && !std::filesystem::exists(last, ignored)) {
    std::vector<std::string> known;
    for (const auto& each : metrics::summaryNames())
      known.emplace_back(each.name);
    const std::string nearest = nearestWord(last, known);
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("there is no table '{}': {}",
                             last,
                             nearest.empty() ? "'sonde stats --help' lists them"
                                             : fmt::format("did you mean '{}'?", nearest))};
  }
  if (words_.empty())
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("no trace given: name one before '{}'", table_)};
  if (format_ == Format::Csv && table_.empty())
    return Error{ErrorCode::InvalidArgument, "CSV holds one table: name it after the trace"};
  return {};
}

Result<void> StatsCommand::show(const store::Database& trace) {
  SONDE_TRY_ASSIGN(const auto within, readTimeOf(time_, trace));
  nlohmann::json tables = nlohmann::json::object();
  for (const metrics::SummaryName& each : metrics::summaryNames()) {
    if (!table_.empty() && each.name != table_)
      continue;
    SONDE_TRY_ASSIGN(const metrics::SummaryTable summary,
                     metrics::summarise(trace, each.name, within));
    const Table table = tableOf(summary, format_);
    if (format_ == Format::Json)
      tables[std::string(each.name)] = rowsAsObjects(table);
    else if (format_ == Format::Csv)
      printOut(renderCsv(table));
    else if (!table.rows.empty())
      printOut(fmt::format("{} ({})\n{}\n", each.title, each.name, renderText(table)));
    else if (!table_.empty())
      printOut(fmt::format("{} ({}): the trace has no rows for it\n", each.title, each.name));
  }
  if (format_ == Format::Json)
    printOut(dumpJson({{"schema", 1}, {"tables", std::move(tables)}}));
  return {};
}

int StatsCommand::run() {
  if (const auto named = takeName(); !named)
    return fail(name(), named.error());
  auto job = Job::open(name(), words_);
  if (!job)
    return fail(name(), job.error());
  if (const auto shown = show(job->database()); !shown)
    return fail(name(), shown.error());
  return kExitOk;
}

}  // namespace

std::unique_ptr<Command> makeStatsCommand() {
  return std::make_unique<StatsCommand>();
}

}  // namespace sonde::cli
