#include "analysis/store/read_rows.h"
#include "rules/builtin/training/training_rules.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <optional>
#include <utility>

namespace sonde::rules {
namespace {

// A recording with NaN or infinite elements, or a scalar that is one.
struct NonFinite {
  std::int64_t processId = 0;
  std::int64_t tsNs = 0;
  std::optional<std::int64_t> iteration;
  std::string name;
  std::string collection;  // empty: a scalar
  std::int64_t nans = 0;
  std::int64_t infs = 0;

  SONDE_COLUMNS(processId, tsNs, iteration, name, collection, nans, infs)
};

struct NanOperator {
  std::int64_t processId = 0;
  std::string text;

  SONDE_COLUMNS(processId, text)
};

struct RecordCount {
  std::int64_t count = 0;

  SONDE_COLUMNS(count)
};

struct ProcessName {
  std::int64_t id = 0;
  std::optional<std::int64_t> rank;
  std::int64_t pid = 0;

  SONDE_COLUMNS(id, rank, pid)
};

// In iterations that have ended; a scalar may be in none.
struct NanFacts {
  std::int64_t recorded = 0;         // tensors and scalars
  std::vector<NonFinite> nonFinite;  // by time
  std::vector<NanOperator> operators;
  std::vector<ProcessName> processes;

  static Result<NanFacts> read(const store::Database& trace);
};

// All recordings of iterations that have ended, and scalars outside of iterations.
constexpr const char* kRecordings =
    "SELECT t.process_id, t.ts_ns, t.iteration, t.name_id, t.collection, t.nans, t.infs"
    " FROM tensor t WHERE EXISTS (SELECT 1 FROM iteration i WHERE i.process_id = t.process_id"
    " AND i.number = t.iteration AND i.dur_ns IS NOT NULL)"
    " UNION ALL SELECT s.process_id, s.ts_ns, s.iteration, s.name_id, '', s.value IS NULL,"
    " s.value IS NOT NULL AND abs(s.value) > 1.7976931348623157e308 FROM scalar s"
    " WHERE s.iteration IS NULL OR EXISTS (SELECT 1 FROM iteration i WHERE"
    " i.process_id = s.process_id AND i.number = s.iteration AND i.dur_ns IS NOT NULL)";

Result<NanFacts> NanFacts::read(const store::Database& trace) {
  NanFacts facts;
  SONDE_TRY(
      store::forEach<RecordCount>(trace,
                                  fmt::format("SELECT count(*) AS count FROM ({})", kRecordings),
                                  [&](const RecordCount& row) { facts.recorded = row.count; }));
  SONDE_TRY(store::forEach<NonFinite>(
      trace,
      fmt::format("SELECT r.*, n.text AS name FROM ({}) r JOIN string n ON n.id = r.name_id"
                  " WHERE r.nans + r.infs > 0 ORDER BY r.ts_ns, r.process_id",
                  kRecordings),
      [&](const NonFinite& row) { facts.nonFinite.push_back(row); }));
  SONDE_TRY(store::forEach<NanOperator>(
      trace,
      "SELECT owner_id AS process_id, value AS text FROM v_arg WHERE owner = 'process'"
      " AND key = 'sonde.tensor.first_nan' ORDER BY owner_id",
      [&](const NanOperator& row) { facts.operators.push_back(row); }));
  SONDE_TRY(store::forEach<ProcessName>(
      trace, "SELECT id, rank, pid FROM process", [&](const ProcessName& row) {
        facts.processes.push_back(row);
      }));
  return facts;
}

std::string processName(const NanFacts& facts, std::int64_t id) {
  for (const ProcessName& each : facts.processes)
    if (each.id == id)
      return each.rank                     ? fmt::format("rank {}", *each.rank)
             : facts.processes.size() == 1 ? "rank 0"
                                           : fmt::format("process {}", each.pid);
  return "job";
}

const NanOperator* operatorOf(const NanFacts& facts, const NonFinite* first) {
  for (const NanOperator& each : facts.operators)
    if (first == nullptr || each.processId == first->processId)
      return &each;
  return nullptr;
}

const NonFinite* firstOf(const NanFacts& facts, const Parameters& parameters) {
  const bool onlyNan = parameters.integer("only_nan") != 0;
  for (const NonFinite& each : facts.nonFinite) {
    if (each.nans == 0 && (onlyNan || each.infs == 0))
      continue;
    if (fnmatch(parameters.text("names").c_str(), each.name.c_str(), 0) == 0)
      return &each;
  }
  return nullptr;
}

Finding findingOf(const NanFacts& facts, const NonFinite* first, const NanOperator* op) {
  Finding finding;
  Outcome& outcome = finding.outcome;
  finding.entity = processName(facts, first != nullptr ? first->processId : op->processId);
  outcome.verdict = Verdict::Fired;
  outcome.samples = facts.recorded;
  if (first != nullptr) {
    const std::string where = first->iteration ? fmt::format("in iteration {}", *first->iteration)
                                               : std::string("outside of iterations");
    outcome.message = first->collection.empty()
                          ? fmt::format("the scalar '{}' is {} {}",
                                        first->name,
                                        first->nans > 0 ? "NaN" : "infinite",
                                        where)
                          : fmt::format("{} ({}) has {} NaN and {} infinite elements {}",
                                        first->name,
                                        first->collection,
                                        first->nans,
                                        first->infs,
                                        where);
    outcome.evidence = {{"name", first->name}, {"collection", first->collection}};
    if (first->iteration)
      outcome.evidence["iteration"] = *first->iteration;
    outcome.time = TimeRange{first->tsNs, first->tsNs};
    outcome.value = static_cast<double>(first->nans + first->infs);
    outcome.threshold = 0;
  }
  if (op != nullptr) {
    outcome.message += fmt::format("{}the first operator that made a NaN is {}",
                                   outcome.message.empty() ? "" : "; ",
                                   op->text);
    outcome.evidence["operator"] = op->text;
  }
  return finding;
}

Result<std::vector<Finding>> judgeFirstNan(Facts& facts, const Parameters& parameters) {
  SONDE_TRY_ASSIGN(const NanFacts* const nans, facts.of<NanFacts>());
  const NonFinite* const first = firstOf(*nans, parameters);
  const NanOperator* const op = operatorOf(*nans, first);
  if (first != nullptr || op != nullptr)
    return std::vector<Finding>{findingOf(*nans, first, op)};
  Finding finding{"job", {}};
  finding.outcome.samples = nans->recorded;
  if (nans->recorded == 0) {
    finding.outcome.inputMissing = true;
    finding.outcome.message =
        "no tensor and no scalar was recorded: record them with sonde run "
        "--sources +tensor, or with sonde.scalar(\"loss\", value)";
  } else {
    finding.outcome.verdict = Verdict::Pass;
    finding.outcome.message =
        fmt::format("{} recordings of tensors and scalars are finite", nans->recorded);
  }
  return std::vector<Finding>{finding};
}

}  // namespace

RuleInfo firstNan() {
  RuleInfo info;
  info.name = "first-nan";
  info.profile = Profile::Ci;
  info.isForProduction = true;
  info.isOptional = true;
  info.summary = "a tensor or a scalar of any rank is NaN or infinite";
  info.details =
      "Names the earliest recording with a NaN or an infinite number, by the time of the job, over "
      "the tensors and scalars of\n"
      "all ranks: rank, name and iteration. With `first-nan = true` in the --tensors file, it "
      "names "
      "the operator that made the\n"
      "first NaN of that rank, too. A scalar may be outside of all iterations.";
  info.needs = "annotation,tensor";
  info.hint =
      "start at the rank and tensor that this names: others follow from it. Lower the "
      "learning rate, clip gradients, and check the inputs for NaN";
  info.next = {
      "sonde sql TRACE \"SELECT p.rank, t.iteration, n.text, t.nans, t.infs FROM tensor t "
      "JOIN string n ON n.id = t.name_id JOIN process p ON p.id = t.process_id WHERE "
      "t.nans + t.infs > 0 ORDER BY t.ts_ns LIMIT 20\""};
  info.parameters = {
      {"names", std::string("*"), "names of tensors and scalars to judge, a shell pattern"},
      {"only_nan", std::int64_t{0}, "1: infinite numbers are healthy", 0, 1}};
  info.judge = JobJudge(judgeFirstNan);
  return info;
}

}  // namespace sonde::rules
