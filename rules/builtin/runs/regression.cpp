#include "analysis/engine/diff/diff.h"
#include "rules/baseline/baselines.h"
#include "rules/builtin/runs/runs_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace sonde::rules {
namespace {

namespace diff = engine::diff;

// Time in no operation, phase or the like.
std::string outsideOf(diff::Kind kind) {
  switch (kind) {
    case diff::Kind::Phase:
      return "outside of phases";
    case diff::Kind::Module:
      return "outside of modules";
    case diff::Kind::Category:
      return "outside of categories";
    case diff::Kind::Host:
      return "outside of operations";
    default:
      return fmt::format("{} outside of operations", diff::word(kind));
  }
}

std::string entityOf(const diff::Subject& subject) {
  std::string entity(subject.kind == diff::Kind::Host ? "operation" : diff::word(subject.kind));
  if (subject.name)
    entity += " " + *subject.name;
  else if (subject.kind != diff::Kind::Iteration)
    entity = outsideOf(subject.kind);
  return subject.rank ? fmt::format("rank {}: {}", *subject.rank, entity) : entity;
}

std::string msText(double ns) {
  return fmt::format("{:.4g} ms", ns / 1e6);
}

std::string sidesText(const diff::Diff& result) {
  return fmt::format("{} run{} of {} iterations against {} of {}",
                     result.b.runs,
                     result.b.runs == 1 ? "" : "s",
                     result.b.iterations,
                     result.a.runs,
                     result.a.iterations);
}

// The row as evidence, without a verdict yet.
Outcome outcomeOf(const diff::Diff& result, const diff::Row& row, double minEffect) {
  const diff::Estimate& shown = row.shown;
  Outcome outcome;
  outcome.value = shown.change;
  outcome.threshold = minEffect;
  outcome.samples = static_cast<std::int64_t>(result.b.iterations);
  outcome.evidence = {{"before_ns", shown.a.ns},
                      {"now_ns", shown.b.ns},
                      {"runs_before", static_cast<std::int64_t>(result.a.runs)},
                      {"runs_now", static_cast<std::int64_t>(result.b.runs)},
                      {"iterations_before", static_cast<std::int64_t>(result.a.iterations)},
                      {"iterations_now", static_cast<std::int64_t>(result.b.iterations)},
                      {"p", row.p},
                      {"tests", static_cast<std::int64_t>(result.tests)},
                      {"measure", std::string(diff::word(shown.measure))}};
  for (const auto& [key, number] : {std::pair("change", shown.change),
                                    std::pair("low", shown.low),
                                    std::pair("high", shown.high),
                                    std::pair("detectable", row.detectable)})
    if (number)
      outcome.evidence[key] = *number;
  return outcome;
}

bool isSlower(const diff::Row& row, double minEffect) {
  return row.verdict == diff::Verdict::Slower &&
         (!row.shown.change || *row.shown.change >= minEffect);
}

std::string intervalText(const diff::Row& row) {
  return row.shown.low && row.shown.high
             ? fmt::format(" ({:.3g} to {:.3g} %)", 100 * *row.shown.low, 100 * *row.shown.high)
             : "";
}

Finding firedFor(const diff::Diff& result, const diff::Row& row, double minEffect) {
  Finding finding{entityOf(row.subject), outcomeOf(result, row, minEffect)};
  finding.outcome.verdict = Verdict::Fired;
  finding.outcome.message = fmt::format(
      "{} slower than the baseline{}: {} instead of {}, {}, p = {:.2g}",
      row.shown.change ? fmt::format("{:.3g} %", 100 * *row.shown.change) : std::string("much"),
      intervalText(row),
      msText(row.shown.b.ns),
      msText(row.shown.a.ns),
      sidesText(result),
      row.p);
  return finding;
}

std::string visibleText(const diff::Row& row) {
  return row.detectable
             ? fmt::format("a slowdown of {:.3g} % would have been seen", 100 * *row.detectable)
             : std::string("no slowdown at all would have been seen");
}

// The number of iterations after which ranks can show a difference.
std::string neededText(const diff::Diff& result) {
  constexpr std::size_t kFewest = 4;  // a side, if both have as many
  const diff::Judgement judgement;
  if (result.a.iterations < kFewest)
    return "record at least four a side after the warm-up";
  const std::size_t needed = diff::neededIterations(result.a.iterations, judgement);
  if (result.b.iterations < needed)
    return fmt::format(
        "record at least {} of this run after the warm-up, better as many as the baseline has",
        needed);
  return "most of them last equally long, so record more";
}

bool mayBeSlower(const diff::Row& row, double minEffect) {
  return row.shown.low.value_or(0) > 0 && (!row.shown.change || *row.shown.change >= minEffect);
}

// An iteration that did not become slower, if that could have been seen.
Finding iterationFinding(const diff::Diff& result,
                         const diff::Row& row,
                         double minEffect,
                         double resolution) {
  Finding finding{entityOf(row.subject), outcomeOf(result, row, minEffect)};
  Outcome& outcome = finding.outcome;
  if (row.verdict == diff::Verdict::TooFew) {
    outcome.message =
        fmt::format("too few iterations to compare: {}; {}", sidesText(result), neededText(result));
    return finding;
  }
  if (row.excludesZero() && mayBeSlower(row, minEffect)) {
    outcome.message =
        fmt::format("perhaps slower{}, but {} ({}): record more iterations and runs a side",
                    intervalText(row),
                    diff::doubtText(row, diff::Judgement{}),
                    sidesText(result));
    return finding;
  }
  const bool isSure =
      row.verdict != diff::Verdict::Same || (row.detectable && *row.detectable <= resolution);
  if (!isSure) {
    outcome.message = fmt::format(
        "not slower as far as can be seen, but only {} ({}; resolution = {:.3g} %): record more "
        "runs a side, five or more",
        visibleText(row),
        sidesText(result),
        100 * resolution);
    return finding;
  }
  outcome.verdict = Verdict::Pass;
  const std::string change =
      row.verdict == diff::Verdict::Same
          ? "not slower than the baseline"
          : fmt::format("{:.3g} % {} than the baseline",
                        100 * std::abs(row.shown.change.value_or(0)),
                        row.verdict == diff::Verdict::Slower ? "slower" : "faster");
  outcome.message = fmt::format("{}; {} ({})", change, visibleText(row), sidesText(result));
  return finding;
}

Result<std::vector<Finding>> judgeRegressionOfRun(Facts& facts, const Parameters& parameters) {
  if (facts.baselines() == nullptr)
    return std::vector{withoutBaseline()};
  if (!facts.baselines()->hasTimes()) {
    Finding missing{"iteration", {}};
    missing.outcome.inputMissing = true;
    missing.outcome.message =
        "learned invariants have no times: give --baseline traces, or a file of sonde baseline "
        "accept, too";
    return std::vector{std::move(missing)};
  }
  const auto findings = [&]() -> Result<std::vector<Finding>> {
    SONDE_TRY_ASSIGN(const BothSides sides,
                     facts.baselines()->times(wordsOf(parameters.text("by"))));
    return judgeRegression(sides, parameters);
  }();
  if (findings || findings.error().code != ErrorCode::NotFound)
    return findings;
  Finding missing{"iteration", {}};
  missing.outcome.message = findings.error().message;
  return std::vector{std::move(missing)};
}

}  // namespace

Result<std::vector<Finding>> judgeRegression(const BothSides& sides, const Parameters& parameters) {
  auto result = diff::diff(sides.before, sides.now, diff::Judgement{});
  if (!result)
    return Error{result.error().code,
                 fmt::format("{} (A is the baseline, B this run)", result.error().message)};
  const double minEffect = parameters.real("min_effect");
  const double resolution = parameters.real("resolution");
  std::vector<Finding> findings;
  for (const diff::Row& row : result->rows)
    if (isSlower(row, minEffect))
      findings.push_back(firedFor(*result, row, minEffect));
    else if (row.subject.kind == diff::Kind::Iteration && row.verdict != diff::Verdict::Added &&
             row.verdict != diff::Verdict::Removed)
      findings.push_back(iterationFinding(*result, row, minEffect, resolution));
  if (findings.empty()) {
    Finding missing{"iteration", {}};
    missing.outcome.message = "the runs have no rank in common: leave rank out of the parameter by";
    findings.push_back(std::move(missing));
  }
  return findings;
}

RuleInfo regression() {
  RuleInfo info;
  info.name = "regression";
  info.profile = Profile::Performance;
  info.isOptional = true;
  info.runsByItself = RunsByItself::WithBaseline;
  info.summary = "an iteration, operation or kernel is slower than in earlier runs";
  info.details =
      "Compares the run with those of --baseline by the statistics of `sonde diff`, corrected for\n"
      "the number of tests. Fires for each subject that is significantly slower, by at least the\n"
      "share `min_effect`. The result for the iteration says how large a slowdown would have been\n"
      "seen in four of five such comparisons. If that is more than `resolution`, or the\n"
      "interval of the change excludes 0, or there are too few iterations, the verdict is\n"
      "insufficient, not pass. Without --baseline it is insufficient, too.";
  info.hint =
      "compare the runs in detail, and look for what the change does in that operation; a busy "
      "machine can slow all runs of an hour, so record the baseline anew in turn";
  info.next = {"sonde diff BASELINE TRACE --all"};
  info.parameters = {
      {"min_effect", 0.03, "smallest slowdown that matters, as a share", 0, 10},
      {"resolution", 0.1, "a pass needs that a slowdown of this share would be seen", 0, 10},
      {"by",
       std::string("operation,kernel"),
       "what to compare within an iteration, the words of sonde diff --by",
       -std::numeric_limits<double>::infinity(),
       std::numeric_limits<double>::infinity(),
       {"operation", "kernel", "phase", "module", "category", "rank"}}};
  info.judge = JobJudge(judgeRegressionOfRun);
  return info;
}

}  // namespace sonde::rules
