#include "rules/builtin/recording/recording_rules.h"

#include "analysis/store/read_rows.h"
#include "rules/facts/job_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sonde::rules {
namespace {

struct LossRow {
  std::string probe;
  std::string kind;
  std::string reason;
  std::int64_t count = 0;

  SONDE_COLUMNS(probe, kind, reason, count)
};

constexpr std::string_view kLosses =
    "SELECT probe, kind, reason, sum(count) AS count FROM loss WHERE NOT (probe = 'import' AND "
    "reason ="
    " 'ring') GROUP BY probe, kind, reason"
    " ORDER BY count DESC";
constexpr std::string_view kRecords =
    "SELECT (SELECT count(*) FROM slice) + (SELECT count(*) FROM kernel) + (SELECT count(*) FROM "
    "copy) + (SELECT count(*) FROM transfer)";

Result<std::vector<Finding>> judgeDropped(Facts& facts, const Parameters& parameters) {
  SONDE_TRY_ASSIGN(const auto losses, store::readAll<LossRow>(facts.trace(), kLosses));
  SONDE_TRY_ASSIGN(const std::int64_t records, facts.trace().queryInteger(kRecords));
  std::int64_t lost = 0;
  std::vector<std::string> kinds;
  for (const LossRow& row : losses) {
    lost += row.count;
    kinds.push_back(fmt::format("{} {} ({}): {}", row.probe, row.kind, row.reason, row.count));
  }
  Finding finding{"job", {}};
  Outcome& outcome = finding.outcome;
  outcome.samples = records;
  outcome.value = lost == 0 ? 0 : static_cast<double>(lost) / static_cast<double>(lost + records);
  outcome.threshold = parameters.real("max_share");
  outcome.verdict = *outcome.value > *outcome.threshold ? Verdict::Fired : Verdict::Pass;
  outcome.evidence = {{"lost", lost}, {"records", records}, {"losses", kinds}};
  outcome.message =
      lost == 0 ? "no record was lost"
                : fmt::format(
                      "{} of {} records were lost; most: {}", lost, lost + records, kinds.front());
  outcome.query = "SELECT * FROM loss ORDER BY count DESC";
  return std::vector{std::move(finding)};
}

Result<std::vector<Finding>> judgeCost(Facts& facts, const Parameters& parameters) {
  Finding finding{"job", {}};
  Outcome& outcome = finding.outcome;
  const auto beside = facts.trace().queryInteger(
      "SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'recorder_beside_ppm'");
  if (!beside) {
    if (beside.error().code != ErrorCode::NotFound)
      return beside.error();
    outcome.inputMissing = true;
    outcome.message = "the trace does not say how much time the recorder took";
    return std::vector{std::move(finding)};
  }
  outcome.value = static_cast<double>(*beside) / 1e6;
  outcome.threshold = parameters.real("max_processors");
  outcome.verdict = *outcome.value > *outcome.threshold ? Verdict::Fired : Verdict::Pass;
  outcome.samples = 1;
  outcome.evidence = {{"recorder_beside_ppm", *beside}};
  outcome.message =
      fmt::format("the recorder used {:.1f} % of a processor beside the job", 100 * *outcome.value);
  return std::vector{std::move(finding)};
}

}  // namespace

std::vector<RuleInfo> recordingRules() {
  return {droppedData(), impossibleKernels(), recorderCost()};
}

RuleInfo droppedData() {
  RuleInfo info;
  info.name = "dropped-data";
  info.profile = Profile::Performance;
  info.summary = "the recording lost many records";
  info.details =
      "Fires if more than `max_share` of all records were lost. Other rules see less then.";
  info.hint = "raise --spool-limit or --max-size, or record fewer probes (--sources)";
  info.next = {"sonde report TRACE", "sonde doctor"};
  info.parameters = {{"max_share", 0.01, "largest healthy share of lost records", 0, 1}};
  info.judge = JobJudge(judgeDropped);
  return info;
}

RuleInfo recorderCost() {
  RuleInfo info;
  info.name = "recorder-cost";
  info.profile = Profile::Performance;
  info.isOptional = true;
  info.summary = "the recorder took much processor time beside the job";
  info.details =
      "Fires if the recorder used more than `max_processors` processors while the job ran.";
  info.hint = "record fewer probes (--sources), in part (--capture), or with a lower --sample-rate";
  info.next = {"sonde report TRACE"};
  info.parameters = {{"max_processors", 0.2, "healthy use of processors, in processors", 0, 1024}};
  info.judge = JobJudge(judgeCost);
  return info;
}

}  // namespace sonde::rules
