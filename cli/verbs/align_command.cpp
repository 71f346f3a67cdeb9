#include "analysis/engine/align/align.h"
#include "analysis/finalise/finaliser.h"
#include "analysis/store/trace_file.h"
#include "cli/shell/command.h"
#include "cli/shell/open_job.h"
#include "cli/text/table.h"

#include <fmt/format.h>

#include <utility>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace sonde::cli {
namespace {

using engine::align::Alignment;
using engine::align::HostAlignment;
using Known = engine::align::FittedClock::Known;

class AlignCommand : public Command {
 public:
  const char* name() const override { return "align"; }
  const char* summary() const override {
    return "print how far the clocks of a job's hosts differ";
  }
  const char* details() const override {
    return "Compares the clocks of all hosts with the first one's, by the messages and collectives "
           "between them.\n"
           "Prints how much to add to the times of each host, and how the clock drifts. 'sonde "
           "merge' does the same\n"
           "and stores the result. Exits with 4 if nothing connects the hosts, or if the times "
           "contradict each other.\n"
           "\nExamples:\n"
           "  sonde align job.sonde\n"
           "  sonde align rank0.sonde rank1.sonde --format json\n";
  }
  void declare(CLI::App& app) override {
    app.add_flag("--store", store_, "store the result in the trace, as sonde merge does");
    addFormatOption(app, format_);
    app.add_option("TRACE", traces_, "traces of one job")->required();
  }
  int run() override;

 private:
  Result<void> storeInto(const std::string& path, const Alignment& alignment) const;

  Format format_ = Format::Table;
  bool store_ = false;
  std::vector<std::string> traces_;
};

Table tableOf(const Alignment& alignment) {
  Table table;
  table.columns = {textColumn("host", "host"),
                   {"host_id", "id", ColumnKind::Number},
                   durationColumn("offset_ns", "offset"),
                   {"drift_ppb", "drift [ppb]", ColumnKind::Integer},
                   durationColumn("error_ns", "± error"),
                   durationColumn("residual_ns", "residual"),
                   countColumn("messages", "messages"),
                   countColumn("collectives", "collectives"),
                   countColumn("pieces", "pieces"),
                   {"from_ns", "from [ns]", ColumnKind::Number}};
  for (const HostAlignment& host : alignment.hosts) {
    if (host.known != Known::BothSides)
      continue;
    const model::ClockMap& first = host.pieces.front();
    table.rows.push_back({host.host,
                          host.hostId,
                          first.offsetNs,
                          first.driftPpb,
                          host.errorNs,
                          host.residualNs,
                          host.messages,
                          host.collectives,
                          static_cast<std::int64_t>(host.pieces.size()),
                          first.fromNs});
  }
  return table;
}

nlohmann::json jsonOf(const Alignment& alignment) {
  nlohmann::json oneSided = nlohmann::json::array();
  for (const HostAlignment& host : alignment.hosts)
    if (host.known == Known::OneSide)
      oneSided.push_back({{"host", host.host},
                          {"host_id", host.hostId},
                          {"at_least_ns", cellAsJson(orNone(host.atLeastNs))},
                          {"at_most_ns", cellAsJson(orNone(host.atMostNs))},
                          {"messages", host.messages}});
  nlohmann::json contradictions = nlohmann::json::array();
  if (const auto& found = alignment.contradiction)
    contradictions.push_back(
        {{"hosts", {alignment.hosts[found->one].host, alignment.hosts[found->other].host}},
         {"by_ns", found->byNs}});
  return {{"schema", 1},
          {"hosts", rowsAsObjects(tableOf(alignment))},
          {"one_sided", std::move(oneSided)},
          {"unconnected", alignment.unconnected()},
          {"contradictions", std::move(contradictions)}};
}

void printText(const Alignment& alignment) {
  Table table = tableOf(alignment);
  table.columns.pop_back();  // a person compares offsets, not times
  for (auto& row : table.rows)
    row.pop_back();
  printOut(renderText(table));
  for (const HostAlignment& host : alignment.hosts)
    if (host.known == Known::OneSide)
      printOut(fmt::format("{}: bounded on one side only, its offset is at {} {}\n",
                           host.host,
                           host.atLeastNs ? "least" : "most",
                           humanDuration(host.atLeastNs.value_or(host.atMostNs.value_or(0)))));
  for (const std::string& host : alignment.unconnected())
    printOut(fmt::format("{}: nothing connects it with {}\n", host, alignment.hosts.front().host));
}

Result<void> AlignCommand::storeInto(const std::string& path, const Alignment& alignment) const {
  SONDE_TRY_ASSIGN(store::Database trace, store::Database::open(path, store::Access::ReadWrite));
  SONDE_TRY_ASSIGN(const bool isFinished, store::isFinished(trace));
  if (!isFinished)
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("'{}' is not finished: run 'sonde recover' first", path)};
  SONDE_TRY_ASSIGN(store::Transaction transaction, store::Transaction::begin(trace));
  SONDE_TRY(storeClockMap(trace, alignment));
  SONDE_TRY(store::setOrigin(trace));
  return transaction.commit();
}

int AlignCommand::run() {
  if (store_ && traces_.size() != 1)
    return fail(name(),
                {ErrorCode::InvalidArgument,
                 "--store takes one trace: join them with 'sonde merge', which stores the result"});
  auto job = Job::open(name(), traces_);
  if (!job)
    return fail(name(), job.error());
  const auto alignment = engine::align::alignHosts(job->database());
  if (!alignment)
    return fail(name(), alignment.error());
  const std::string obstacle = alignment->obstacle();
  if (store_ && obstacle.empty())
    if (const auto stored = storeInto(traces_.front(), *alignment); !stored)
      return fail(name(), stored.error());
  if (format_ == Format::Json)
    printOut(dumpJson(jsonOf(*alignment)));
  else if (format_ == Format::Csv)
    printOut(renderCsv(tableOf(*alignment)));
  else
    printText(*alignment);
  if (obstacle.empty())
    return kExitOk;
  complain(name(), obstacle);
  return kExitNoAnswer;
}

}  // namespace

std::unique_ptr<Command> makeAlignCommand() {
  return std::make_unique<AlignCommand>();
}

}  // namespace sonde::cli
