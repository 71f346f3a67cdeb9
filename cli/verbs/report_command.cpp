#include "cli/html/html_report.h"
#include "cli/report/report_hta.h"
#include "cli/report/report_text.h"
#include "cli/shell/command.h"
#include "cli/shell/communication_options.h"
#include "cli/shell/correction_options.h"
#include "cli/shell/open_job.h"
#include "cli/shell/progress_bar.h"
#include "cli/text/number_checks.h"
#include "cli/text/table.h"
#include "cli/text/word_option.h"

#include <string>
#include <utility>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace sonde::cli {

namespace metrics = engine::metrics;

namespace {

enum class ReportAs { Table, Json, Csv, Html };

class ReportCommand : public Command {
 public:
  const char* name() const override { return "report"; }
  const char* summary() const override { return "summarise on one screen where the time went"; }
  const char* details() const override {
    return "Prints iterations and their parts, computing and communicating, operations, data "
           "moved, losses, dropped\n"
           "records, and the cost of recording. The times of iterations, computing, communicating "
           "and operations do not\n"
           "include that cost. Hidden communication happens while the rank computes, exposed "
           "communication does not.\n"
           "CSV holds the table of operations. --full adds tables of devices, streams, kernels, "
           "copies, launches and\n"
           "collectives.\n"
           "\n"
           "--format html makes a page that opens without a network: the verdicts of all rules, "
           "then plots and tables\n"
           "of iterations, time, devices, communication, loaders, memory and losses.\n"
           "\nExamples:\n"
           "  sonde report out/rank0.sonde out/rank1.sonde\n"
           "  sonde report job.sonde --format json\n"
           "  sonde report job.sonde --format html -o report.html\n"
           "  sonde report rank*.sonde --compat hta\n";
  }
  void declare(CLI::App& app) override {
    addFormatOption<ReportAs>(app,
                              format_,
                              {{"table", ReportAs::Table},
                               {"json", ReportAs::Json},
                               {"csv", ReportAs::Csv},
                               {"html", ReportAs::Html}},
                              "output format: table to read, json or csv for programs, html for "
                              "a page to keep");
    app.add_option("-o,--output", output_, "write the report to this file")->type_name("FILE");
    app.add_flag("--full",
                 full_,
                 "all ranks, operations, modules and channels, and tables of devices and memory");
    takeOneOf<Definitions>(
        {{"sonde", Definitions::Sonde}, {"hta", Definitions::Hta}},
        "set of definitions",
        app.add_option(
            "--compat",
            definitions_,
            "definitions of device metrics: sonde, or hta for HolisticTraceAnalysis (sonde)"));
    app.add_option(
           "--peak-flops",
           peakFlops_,
           "peak FLOP/s of a rank's devices, for MFU, as in 989e12 (looked up by device name)")
        ->check(positiveNumber())
        ->type_name("N");
    addCorrectionOptions(app, correction_);
    addCommunicationOptions(app, communication_);
    app.add_option("TRACE", traces_, "traces of one job")->required();
  }
  int run() override;

 private:
  enum class Definitions { Sonde, Hta };

  Result<void> checkOptions() const;
  Result<std::string> render(const store::Database& trace) const;
  Result<std::string> compared(const store::Database& trace) const;
  Result<JobReport> read(const store::Database& trace) const;

  ReportAs format_ = ReportAs::Table;
  std::string output_;
  Definitions definitions_ = Definitions::Sonde;
  bool full_ = false;
  std::optional<double> peakFlops_;
  CorrectionOptions correction_;
  CommunicationOptions communication_;
  std::vector<std::string> traces_;
};

Table operationTable(const JobReport& report) {
  Table table{{rankColumn(),
               {"kind", "kind"},
               {"name", "name"},
               {"count", "count", ColumnKind::Integer},
               {"ns", "time", ColumnKind::DurationNs},
               {"p50_ns", "p50", ColumnKind::DurationNs},
               {"p95_ns", "p95", ColumnKind::DurationNs},
               {"p99_ns", "p99", ColumnKind::DurationNs},
               {"share", "share", ColumnKind::Fraction},
               {"raw_ns", "recorded", ColumnKind::DurationNs},
               {"low_ns", "from", ColumnKind::DurationNs},
               {"high_ns", "to", ColumnKind::DurationNs}},
              {}};
  for (const RankReport& rank : report.ranks)
    for (std::size_t at = 0; at < rank.operations.size(); ++at) {
      const metrics::OperationTime& operation = rank.operations[at];
      const metrics::CorrectedNs& time = rank.operationTimes[at];
      table.rows.push_back({rank.process.rank ? Cell(*rank.process.rank) : Cell(),
                            operation.kind,
                            operation.name,
                            operation.count,
                            operation.ns,
                            operation.p50Ns,
                            operation.p95Ns,
                            operation.p99Ns,
                            operation.share,
                            time.rawNs,
                            time.lowNs,
                            time.highNs});
    }
  return table;
}

Result<JobReport> ReportCommand::read(const store::Database& trace) const {
  SONDE_TRY_ASSIGN(const metrics::Clocks clocks, readClocks(correction_, trace));
  return engine::report::readReport(trace, peakFlops_, clocks);
}

// Adds HTA's definitions; in JSON beside everything else.
Result<std::string> ReportCommand::compared(const store::Database& trace) const {
  SONDE_TRY_ASSIGN(const HtaReport hta, engine::hta::readHta(trace));
  if (format_ == ReportAs::Table)
    return renderHta(hta);
  if (format_ == ReportAs::Csv)
    return renderCsv(htaTable(hta));
  SONDE_TRY_ASSIGN(const JobReport report, read(trace));
  nlohmann::json document = reportJson(report, full_);
  addHtaJson(document, hta);
  return dumpJson(document);
}

Result<std::string> ReportCommand::render(const store::Database& trace) const {
  if (definitions_ == Definitions::Hta)
    return compared(trace);
  SONDE_TRY_ASSIGN(JobReport report, read(trace));
  switch (format_) {
    case ReportAs::Json:
      return dumpJson(reportJson(report, full_));
    case ReportAs::Csv:
      return renderCsv(operationTable(report));
    case ReportAs::Html: {
      const ProgressBar bar(name());
      SONDE_TRY_ASSIGN(const HtmlValues values,
                       readHtmlValues(trace, std::move(report), ProgressBar::progress()));
      return htmlReport(values);
    }
    case ReportAs::Table:
      break;
  }
  return renderReport(report, full_);
}

Result<void> ReportCommand::checkOptions() const {
  if (format_ == ReportAs::Html && definitions_ == Definitions::Hta)
    return Error{ErrorCode::InvalidArgument,
                 "--format html has Sonde's definitions: leave out --compat hta"};
  return checkApart(output_, traces_);
}

int ReportCommand::run() {
  if (const auto checked = checkOptions(); !checked)
    return fail(name(), checked.error());
  auto job = Job::open(name(), traces_);
  if (!job)
    return fail(name(), job.error());
  if (const auto given = applyCommunication(communication_, job->database()); !given)
    return fail(name(), given.error());
  const auto text = render(job->database());
  if (!text)
    return fail(name(), text.error());
  const auto written = writeOut(output_, *text);
  return written ? kExitOk : fail(name(), written.error());
}

}  // namespace

std::unique_ptr<Command> makeReportCommand() {
  return std::make_unique<ReportCommand>();
}

}  // namespace sonde::cli
