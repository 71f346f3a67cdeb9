#include "analysis/store/read_rows.h"
#include "rules/builtin/training/training_rules.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <optional>
#include <tuple>
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

struct NewestRow {
  std::int64_t newest = 0;

  SONDE_COLUMNS(newest)
};

struct ProcessName {
  std::int64_t id = 0;
  std::optional<std::int64_t> rank;
  std::int64_t pid = 0;

  SONDE_COLUMNS(id, rank, pid)
};

// Grows with the trace. Rows of open iterations are among them.
class NanFacts {
 public:
  static Result<NanFacts> read(const store::Database& trace) {
    NanFacts facts;
    SONDE_TRY(facts.grow(trace));
    return facts;
  }
  Result<void> grow(const store::Database& trace);

  const std::vector<NonFinite>& nonFinite() const noexcept { return nonFinite_; }  // by time
  const std::vector<NanOperator>& operators() const noexcept { return operators_; }
  const std::vector<ProcessName>& processes() const noexcept { return processes_; }

 private:
  std::vector<NonFinite> nonFinite_;
  std::vector<NanOperator> operators_;
  std::vector<ProcessName> processes_;
  std::int64_t lastTensor_ = 0;  // rowid
  std::int64_t lastScalar_ = 0;
};

Result<std::int64_t> newestRow(const store::Database& trace, const char* table) {
  std::int64_t newest = 0;
  SONDE_TRY(store::forEach<NewestRow>(
      trace,
      fmt::format("SELECT coalesce(max(rowid), 0) AS newest FROM {}", table),
      [&](const NewestRow& row) { newest = row.newest; }));
  return newest;
}

std::string rowsBetween(std::int64_t last, std::int64_t newest) {
  return fmt::format("r.rowid > {} AND r.rowid <= {}", last, newest);
}

Result<void> NanFacts::grow(const store::Database& trace) {
  SONDE_TRY_ASSIGN(const std::int64_t newestTensor, newestRow(trace, "tensor"));
  SONDE_TRY_ASSIGN(const std::int64_t newestScalar, newestRow(trace, "scalar"));
  std::vector<NonFinite> read;  // a failed reading leaves no row behind: the next one begins anew
  SONDE_TRY(store::forEach<NonFinite>(
      trace,
      fmt::format(
          "SELECT r.process_id, r.ts_ns, r.iteration, n.text AS name, r.collection, r.nans, r.infs"
          " FROM tensor r JOIN string n ON n.id = r.name_id WHERE {} AND r.nans + r.infs > 0"
          " UNION ALL SELECT r.process_id, r.ts_ns, r.iteration, n.text, '', r.value IS NULL,"
          " r.value IS NOT NULL FROM scalar r JOIN string n ON n.id = r.name_id"
          " WHERE {} AND (r.value IS NULL OR abs(r.value) > 1.7976931348623157e308)",
          rowsBetween(lastTensor_, newestTensor),
          rowsBetween(lastScalar_, newestScalar)),
      [&](const NonFinite& row) { read.push_back(row); }));
  lastTensor_ = newestTensor;
  lastScalar_ = newestScalar;
  nonFinite_.insert(nonFinite_.end(), read.begin(), read.end());
  std::sort(nonFinite_.begin(), nonFinite_.end(), [](const NonFinite& a, const NonFinite& b) {
    return std::tie(a.tsNs, a.processId, a.name) < std::tie(b.tsNs, b.processId, b.name);
  });
  operators_.clear();
  SONDE_TRY(store::forEach<NanOperator>(
      trace,
      "SELECT owner_id AS process_id, value AS text FROM v_arg WHERE owner = 'process'"
      " AND key = 'sonde.tensor.first_nan' ORDER BY owner_id",
      [this](const NanOperator& row) { operators_.push_back(row); }));
  processes_.clear();
  return store::forEach<ProcessName>(trace,
                                     "SELECT id, rank, pid FROM process",
                                     [this](const ProcessName& row) { processes_.push_back(row); });
}

const ProcessFacts* processOf(const RunFacts& run, std::int64_t id) {
  for (const ProcessFacts* each : run.processes())
    if (each->id == id)
      return each;
  return nullptr;
}

// Whether its iteration has ended, or it is outside of all.
bool hasEnded(const RunFacts& run, const NonFinite& row) {
  if (!row.iteration)
    return true;
  const ProcessFacts* const process = processOf(run, row.processId);
  return process != nullptr && std::binary_search(process->steps.begin(),
                                                  process->steps.end(),
                                                  StepFact{*row.iteration},
                                                  [](const StepFact& a, const StepFact& b) {
                                                    return a.number < b.number;
                                                  });
}

// Tensors and scalars in iterations that have ended, and scalars outside of iterations.
std::int64_t recordedIn(const RunFacts& run) {
  std::int64_t recorded = 0;
  for (const ProcessFacts* process : run.processes()) {
    const ProcessView view(*process);
    for (const TensorSeries& series : process->tensors)
      recorded += static_cast<std::int64_t>(view.of(series).size());
    for (const auto& [name, series] : process->scalars) {
      recorded += series.outside;
      for (const SeriesValue& each : view.scalar(name))
        recorded += each.count;
    }
  }
  return recorded;
}

std::string processName(const NanFacts& facts, std::int64_t id) {
  for (const ProcessName& each : facts.processes())
    if (each.id == id)
      return each.rank                       ? fmt::format("rank {}", *each.rank)
             : facts.processes().size() == 1 ? "rank 0"
                                             : fmt::format("process {}", each.pid);
  return "job";
}

const NanOperator* operatorOf(const NanFacts& facts, const NonFinite* first) {
  for (const NanOperator& each : facts.operators())
    if (first == nullptr || each.processId == first->processId)
      return &each;
  return nullptr;
}

const NonFinite* firstOf(const NanFacts& facts, const RunFacts& run, const Parameters& parameters) {
  const bool onlyNan = parameters.integer("only_nan") != 0;
  for (const NonFinite& each : facts.nonFinite()) {
    if (each.nans == 0 && (onlyNan || each.infs == 0))
      continue;
    if (fnmatch(parameters.text("names").c_str(), each.name.c_str(), 0) == 0 && hasEnded(run, each))
      return &each;
  }
  return nullptr;
}

Finding findingOf(const NanFacts& facts, const NonFinite* first, const NanOperator* op) {
  Finding finding;
  Outcome& outcome = finding.outcome;
  finding.entity = processName(facts, first != nullptr ? first->processId : op->processId);
  outcome.verdict = Verdict::Fired;
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
  SONDE_TRY_ASSIGN(const RunFacts* const run, facts.of<RunFacts>());
  const NonFinite* const first = firstOf(*nans, *run, parameters);
  const NanOperator* const op = operatorOf(*nans, first);
  const std::int64_t recorded = recordedIn(*run);
  Finding finding{"job", {}};
  if (first != nullptr || op != nullptr)
    finding = findingOf(*nans, first, op);
  finding.outcome.samples = recorded;
  if (finding.outcome.verdict == Verdict::Fired)
    return std::vector<Finding>{finding};
  if (recorded == 0) {
    finding.outcome.inputMissing = true;
    finding.outcome.message =
        "no tensor and no scalar was recorded: record them with sonde run "
        "--sources +tensor, or with sonde.scalar(\"loss\", value)";
  } else {
    finding.outcome.verdict = Verdict::Pass;
    finding.outcome.message =
        fmt::format("{} recordings of tensors and scalars are finite", recorded);
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
