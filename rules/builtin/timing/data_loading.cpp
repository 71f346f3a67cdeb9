#include "analysis/engine/counters/processor_use.h"
#include "analysis/store/each_row.h"
#include "analysis/store/read_rows.h"
#include "rules/builtin/timing/timing_rules.h"
#include "rules/facts/job_facts.h"
#include "rules/facts/process_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace sonde::rules {
namespace {

using engine::metrics::RankStalls;
using engine::metrics::StallCause;
using engine::metrics::StallTime;

// A time of a process.
struct TimeRow {
  std::int64_t id = 0;
  std::int64_t ns = 0;

  SONDE_COLUMNS(id, ns)
};

struct LoaderRow {
  std::int64_t parentId = 0;
  std::int64_t workers = 0;
  std::int64_t cpuCount = 0;

  SONDE_COLUMNS(parentId, workers, cpuCount)
};

// Processes without iterations that a process with iterations started and that loaded batches.
constexpr std::string_view kLoaders =
    "SELECT p.parent_id, count(*) AS workers, max(h.cpu_count) AS cpu_count FROM process p"
    " JOIN host h ON h.id = p.host_id WHERE p.parent_id IN (SELECT process_id FROM iteration) AND"
    " p.id NOT IN (SELECT process_id FROM iteration) AND p.id IN (SELECT t.process_id FROM slice s"
    " JOIN thread t ON t.id = s.thread_id WHERE s.kind = 'data_load') GROUP BY p.parent_id";

// More workers do not help if no processor is free for them.
Result<void> addProcessors(const store::Database& trace,
                           const engine::metrics::RankProcess& rank,
                           Outcome& outcome) {
  SONDE_TRY_ASSIGN(const auto use,
                   engine::counters::processorUse(trace, rank.processId, rank.window));
  if (!use || outcome.verdict != Verdict::Fired)
    return {};
  outcome.evidence["processors"] = use->processors;
  outcome.evidence["processors_busy"] = use->busy;
  if (use->isFull())
    outcome.hint = fmt::format(
        "no processor is free for more loader workers: of {}, {:.1f} are busy. Make loading "
        "cheaper, or use a machine with more processors",
        use->processors,
        use->busy);
  return {};
}

// The iteration that waited longest, in job time.
Result<void> addWorstTime(const store::Database& trace, std::int64_t processId, Outcome& outcome) {
  const auto worst = outcome.evidence.find("worst_iterations");
  if (worst == outcome.evidence.end())
    return {};
  const auto& numbers = std::get<std::vector<std::int64_t>>(worst->second);
  if (numbers.empty())
    return {};
  return store::forEachRow(
      trace,
      fmt::format("SELECT start_ns, end_ns FROM v_iteration WHERE process_id = {} AND number = {} "
                  "AND end_ns IS NOT NULL LIMIT 1",
                  processId,
                  numbers.front()),
      [&](const store::Statement& row) -> Result<void> {
        outcome.time = TimeRange{row.integer(0), row.integer(1)};
        return {};
      });
}

void judgeLoading(const RankStalls& stalls,
                  const LoaderRow& loaders,
                  const Parameters& parameters,
                  Outcome& outcome) {
  outcome.samples = stalls.iterations;
  outcome.threshold = parameters.real("max_share");
  if (stalls.iterations < parameters.integer("min_samples")) {
    outcome.message = fmt::format(
        "{} iterations, but {} are needed", stalls.iterations, parameters.integer("min_samples"));
    return;
  }
  const auto loading =
      std::find_if(stalls.causes.begin(), stalls.causes.end(), [](const StallTime& each) {
        return each.cause == StallCause::Loader;
      });
  outcome.value = loading == stalls.causes.end() ? 0 : loading->share;
  outcome.verdict = *outcome.value > *outcome.threshold ? Verdict::Fired : Verdict::Pass;
  outcome.evidence["workers"] = loaders.workers;
  if (loading == stalls.causes.end()) {
    outcome.message = "no iteration waited for data";
    return;
  }
  outcome.evidence["ns"] = loading->ns;
  outcome.evidence["p95_ns"] = loading->p95Ns;
  std::vector<std::int64_t> worst;
  for (const auto& each : loading->worst)
    worst.push_back(each.number);
  outcome.evidence["worst_iterations"] = worst;
  outcome.message = fmt::format(
      "iterations wait for data for {:.0f} % of their time, with {} loader "
      "workers{}",
      100 * *outcome.value,
      loaders.workers,
      loaders.cpuCount > 0 ? fmt::format(" on {} processors", loaders.cpuCount) : "");
  if (loaders.workers == 0)
    outcome.hint = "load batches in workers: DataLoader(num_workers=4, prefetch_factor=2)";
  else if (loaders.cpuCount > 0 && loaders.workers > 2 * loaders.cpuCount)
    outcome.hint = "there are more loader workers than processors: use fewer";
}

Result<std::vector<Finding>> judgeDataloader(Facts& facts, const Parameters& parameters) {
  SONDE_TRY_ASSIGN(const StallFacts* const all, facts.of<StallFacts>());
  std::map<std::int64_t, LoaderRow> loaders;
  SONDE_TRY(store::forEach<LoaderRow>(
      facts.trace(), kLoaders, [&](const LoaderRow& row) { loaders[row.parentId] = row; }));
  SONDE_TRY_ASSIGN(const store::Database* const recent, facts.recent());
  SONDE_TRY_ASSIGN(
      const std::int64_t any,
      recent->queryInteger("SELECT EXISTS (SELECT 1 FROM slice WHERE kind = 'data_load')"));
  std::vector<Finding> findings;
  for (std::size_t i = 0; i < all->stalls.size(); ++i) {
    Finding finding{all->list.ranks[i].name, {}};
    if (any == 0) {
      finding.outcome.inputMissing = true;
      finding.outcome.message =
          "no loading of data was recorded: record the torch source, or mark it with "
          "sonde.data_load()";
    } else {
      judgeLoading(
          all->stalls[i], loaders[all->list.ranks[i].processId], parameters, finding.outcome);
      SONDE_TRY(addProcessors(facts.trace(), all->list.ranks[i], finding.outcome));
      SONDE_TRY(addWorstTime(*recent, all->list.ranks[i].processId, finding.outcome));
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

// From the begin of the recording to the begin of the first iteration.
Result<std::vector<Finding>> judgeInitialization(Facts& facts, const Parameters& parameters) {
  SONDE_TRY_ASSIGN(const RunFacts* const run, facts.of<RunFacts>());
  const double limit = parameters.real("max_s");
  std::map<std::int64_t, std::int64_t> begins;
  SONDE_TRY(
      store::forEach<TimeRow>(facts.trace(),
                              "SELECT id, start_ns AS ns FROM process WHERE start_ns IS NOT NULL",
                              [&](const TimeRow& row) { begins[row.id] = row.ns; }));
  std::vector<Finding> findings;
  for (const ProcessFacts* process : run->processes()) {
    Finding finding{process->name, {}};
    Outcome& outcome = finding.outcome;
    std::int64_t first = INT64_MAX;
    for (const StepFact& step : process->steps)
      first = std::min(first, step.startNs);
    const double seconds = static_cast<double>(first - begins[process->id]) / 1e9;
    outcome.samples = 1;
    outcome.value = seconds;
    outcome.threshold = limit;
    outcome.verdict = seconds > limit ? Verdict::Fired : Verdict::Pass;
    outcome.time = TimeRange{begins[process->id], first};
    outcome.message = fmt::format("the first iteration began after {:.1f} s", seconds);
    findings.push_back(std::move(finding));
  }
  if (!findings.empty())
    return findings;
  // Nobody has begun an iteration yet: has it taken too long already?
  Finding finding{"job", {}};
  const auto length = facts.trace().queryInteger(
      "SELECT coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'watermark_ns'),"
      " (SELECT max(end_ns) FROM process)) - min(start_ns) FROM process");
  const double seconds = length ? static_cast<double>(*length) / 1e9 : 0;
  finding.outcome.value = seconds;
  finding.outcome.threshold = limit;
  if (seconds > limit) {
    finding.outcome.verdict = Verdict::Fired;
    finding.outcome.message = fmt::format("no iteration began within {:.1f} s", seconds);
  } else {
    finding.outcome.message = fmt::format(
        "no iteration began within {:.1f} s: mark iterations with sonde.iteration(), or record the "
        "torch source with an optimiser",
        seconds);
  }
  return std::vector{std::move(finding)};
}

// The age of the newest ended iteration, or of the newest value of a scalar or tensor.
Result<std::vector<Finding>> judgeStalled(Facts& facts, const Parameters& parameters) {
  SONDE_TRY_ASSIGN(const RunFacts* const run, facts.of<RunFacts>());
  std::vector<Finding> findings;
  std::map<std::int64_t, std::int64_t> ends;
  SONDE_TRY(
      store::forEach<TimeRow>(facts.trace(),
                              "SELECT p.id, coalesce(CASE WHEN p.state = 'running' THEN (SELECT "
                              "CAST(value AS INTEGER) FROM "
                              "meta WHERE key IN ('watermark_ns', 'watermark_ns:' || p.id) LIMIT "
                              "1) END, p.end_ns) AS ns "
                              "FROM process p",
                              [&](const TimeRow& row) { ends[row.id] = row.ns; }));
  for (const ProcessFacts* process : run->processes()) {
    Finding finding{process->name, {}};
    Outcome& outcome = finding.outcome;
    std::int64_t last = 0;
    for (const StepFact& step : process->steps)
      last = std::max(last, step.endNs());
    const double seconds = std::max(0.0, static_cast<double>(ends[process->id] - last) / 1e9);
    outcome.samples = static_cast<std::int64_t>(process->steps.size());
    outcome.value = seconds;
    outcome.threshold = parameters.real("threshold_s");
    outcome.verdict = seconds > *outcome.threshold ? Verdict::Fired : Verdict::Pass;
    outcome.time = TimeRange{last, ends[process->id]};
    outcome.message =
        fmt::format("the last iteration ended {:.1f} s before the end of the record", seconds);
    findings.push_back(std::move(finding));
  }
  if (findings.empty()) {
    findings.push_back({"job", {}});
    findings.back().outcome.message =
        "no iteration has ended: see the rule max-initialization-time";
  }
  return findings;
}

}  // namespace

RuleInfo dataloader() {
  RuleInfo info;
  info.name = "data-loader";
  info.alias = "Dataloader";
  info.profile = Profile::Performance;
  info.isOptional = true;
  info.summary = "iterations wait for data";
  info.details =
      "Fires if a rank waits for its loader for more than `max_share` of the time of its "
      "iterations. "
      "Too few or too many\n"
      "workers are named in the hint, from their number and that of processors. If all processors "
      "are busy, it says so:\nthen more workers do not help.";
  info.needs = "torch";
  info.hint = "use more loader workers, prefetch, or make loading cheaper";
  info.next = {"sonde whatif TRACE --workers 4", "sonde report TRACE"};
  info.parameters = {{"max_share", 0.1, "largest healthy share of waiting", 0, 1},
                     {"min_samples",
                      std::int64_t{5},
                      "with fewer iterations the verdict is insufficient",
                      1,
                      1e9}};
  info.judge = JobJudge(judgeDataloader);
  return info;
}

RuleInfo maxInitializationTime() {
  RuleInfo info;
  info.name = "max-initialization-time";
  info.alias = "MaxInitializationTime";
  info.profile = Profile::Performance;
  info.isForProduction = true;
  info.summary = "the first iteration begins too late";
  info.details =
      "Fires if a rank's first iteration began more than `max_s` seconds after its process, "
      "or has not begun by then.";
  info.needs = "annotation,torch";
  info.hint = "look at imports, compilation, the download of data and the rendezvous of ranks";
  info.next = {"sonde report TRACE"};
  info.parameters = {{"max_s", 1200.0, "longest healthy time in seconds", 0, 1e9}};
  info.judge = JobJudge(judgeInitialization);
  return info;
}

RuleInfo stalledTraining() {
  RuleInfo info;
  info.name = "stalled-training";
  info.alias = "StalledTraining";
  info.profile = Profile::Ci;
  info.isForProduction = true;
  info.summary = "no iteration has ended for long";
  info.details =
      "Fires if a rank's last iteration ended more than `threshold_s` seconds before the end "
      "of its record, or before now\nwhile it runs. `hang` is earlier and says why.";
  info.needs = "annotation,torch";
  info.hint =
      "see what the rule hang says; long evaluation and checkpoints need a larger threshold";
  info.next = {"sonde report TRACE"};
  info.parameters = {{"threshold_s", 1800.0, "longest healthy time in seconds", 0, 1e9}};
  info.judge = JobJudge(judgeStalled);
  return info;
}

}  // namespace sonde::rules
