#include "analysis/engine/sharding/sharding.h"
#include "cli/shard/tables_file.h"
#include "cli/shell/command.h"
#include "cli/shell/model_file.h"
#include "cli/text/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace sonde::cli {
namespace {

namespace sharding = engine::sharding;

// A sharding beside the one that there is now.
struct Sharded {
  TablesFile file;
  sharding::ShardingProblem problem;
  std::vector<std::size_t> before;
  bool isBeforeGiven = false;
  sharding::Sharding found;
};

std::int64_t roundedNs(double ns) {
  return std::llround(ns);
}

Table tablesTable(const Sharded& of) {
  Table table{{textColumn("table", "table"),
               countColumn("rank", "rank"),
               countColumn("before", "before"),
               durationColumn("ns", "lookups"),
               bytesColumn("bytes", "memory"),
               bytesColumn("sent_bytes", "sent to each rank")},
              {}};
  for (std::size_t i = 0; i < of.file.tables.size(); ++i) {
    const auto& each = of.problem.tables[i];
    table.rows.push_back({of.file.names[i],
                          static_cast<std::int64_t>(of.found.rankOf[i]),
                          static_cast<std::int64_t>(of.before[i]),
                          roundedNs(each.ns),
                          roundedNs(each.bytes),
                          roundedNs(each.sentBytes)});
  }
  return table;
}

Table ranksTable(const Sharded& of) {
  Table table{{countColumn("rank", "rank"),
               countColumn("tables", "tables"),
               durationColumn("ns", "lookups"),
               durationColumn("before_ns", "before"),
               bytesColumn("bytes", "memory")},
              {}};
  const auto now = of.problem.loadsOf(of.found.rankOf);
  const auto before = of.problem.loadsOf(of.before);
  for (std::size_t rank = 0; rank < now.size(); ++rank)
    table.rows.push_back({static_cast<std::int64_t>(rank),
                          static_cast<std::int64_t>(
                              std::count(of.found.rankOf.begin(), of.found.rankOf.end(), rank)),
                          roundedNs(now[rank].ns),
                          roundedNs(before[rank].ns),
                          roundedNs(now[rank].bytes)});
  return table;
}

nlohmann::json jsonOf(const Sharded& of) {
  return {{"schema", 1},
          {"before_ns", roundedNs(of.problem.costNs(of.before))},
          {"before_fits", of.problem.fits(of.before)},
          {"predicted_ns", roundedNs(of.found.ns)},
          {"ranks", rowsAsObjects(ranksTable(of))},
          {"tables", rowsAsObjects(tablesTable(of))},
          {"notes", of.file.notes}};
}

std::string textOf(const Sharded& of) {
  std::string text =
      fmt::format("lookups and their exchange take {} an iteration; {} {}{}\n\n{}\n{}",
                  humanDuration(roundedNs(of.found.ns)),
                  of.isBeforeGiven ? "as the tables are now" : "dealt out one after the other",
                  humanDuration(roundedNs(of.problem.costNs(of.before))),
                  of.problem.fits(of.before) ? "" : ", but the memory of a rank does not suffice",
                  renderText(ranksTable(of)),
                  renderText(tablesTable(of)));
  for (const std::string& note : of.file.notes)
    text += fmt::format("note: {}\n", note);
  return text;
}

class ShardCommand : public Command {
 public:
  const char* name() const override { return "shard"; }
  const char* summary() const override {
    return "divide the embedding tables of a recommendation model among ranks";
  }
  const char* details() const override {
    return "Reads tables and the machine from a TOML file, and prints which rank should have which "
           "table, so that an\n"
           "iteration waits as little as possible for lookups and their exchange.\n"
           "\nExamples:\n"
           "  sonde shard tables.toml\n"
           "  sonde shard tables.toml --model network.json --format json\n";
  }
  void declare(CLI::App& app) override {
    app.add_option("--model", model_, "use the all-to-all of this file of 'sonde microbench'")
        ->type_name("MODEL");
    addFormatOption(app, format_);
    app.add_option("TABLES", path_, "TOML file with the tables")->required();
  }
  int run() override;

 private:
  Result<engine::models::CollectiveModel> network(TablesFile& file) const;
  Result<Sharded> shard(TablesFile file) const;

  std::string path_;
  std::string model_;
  Format format_ = Format::Table;
};

Result<engine::models::CollectiveModel> ShardCommand::network(TablesFile& file) const {
  if (model_.empty() && !file.network)
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("{}: how fast ranks exchange results is missing: write [network] with "
                             "bandwidth and latency, or give --model",
                             path_)};
  if (model_.empty())
    return *file.network;
  if (file.network)
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("{} has a [network], and --model another one: leave one out", path_)};
  SONDE_TRY_ASSIGN(const engine::models::ModelSet given, givenModels(model_));
  for (const bool isOnDevice : {true, false})
    if (const auto* model = modelOf(given.collectives,
                                    "alltoall",
                                    isOnDevice,
                                    static_cast<std::int64_t>(file.options.ranks)))
      return *model;
  return Error{ErrorCode::NotFound,
               fmt::format("{} has no model of 'alltoall': fit it to a job that has all-to-alls "
                           "(sonde microbench --fit), or write [network] into {}",
                           model_,
                           path_)};
}

Result<Sharded> ShardCommand::shard(TablesFile file) const {
  SONDE_TRY_ASSIGN(const engine::models::CollectiveModel allToAll, network(file));
  SONDE_TRY_ASSIGN(sharding::ShardingProblem problem,
                   sharding::shardingProblem(file.tables, file.device, allToAll, file.options));
  SONDE_TRY_ASSIGN(sharding::Sharding found, sharding::shard(problem));
  Sharded sharded{std::move(file), std::move(problem), {}, true, std::move(found)};
  for (const auto& rank : sharded.file.rankOf)
    sharded.isBeforeGiven = sharded.isBeforeGiven && rank.has_value();
  for (std::size_t i = 0; i < sharded.file.rankOf.size(); ++i)
    sharded.before.push_back(sharded.isBeforeGiven ? *sharded.file.rankOf[i]
                                                   : i % sharded.problem.ranks);
  return sharded;
}

int ShardCommand::run() {
  auto file = readTablesFile(path_);
  if (!file)
    return fail(name(), file.error());
  const auto sharded = shard(std::move(*file));
  if (!sharded)
    return failToAnswer(name(), sharded.error());
  if (format_ == Format::Json)
    printOut(dumpJson(jsonOf(*sharded)));
  else if (format_ == Format::Csv)
    printOut(renderCsv(tablesTable(*sharded)));
  else
    printOut(textOf(*sharded));
  return kExitOk;
}

}  // namespace

std::unique_ptr<Command> makeShardCommand() {
  return std::make_unique<ShardCommand>();
}

}  // namespace sonde::cli
