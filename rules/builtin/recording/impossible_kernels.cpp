#include "analysis/engine/device/impossible_kernels.h"

#include "rules/builtin/recording/recording_rules.h"
#include "rules/facts/job_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

namespace sonde::rules {
namespace {

using engine::device::ImpossibleKernels;

// The word as a key of evidence.
std::string keyOf(engine::device::Impossibility kind) {
  std::string key(word(kind));
  std::replace(key.begin(), key.end(), ' ', '_');
  return key;
}

// "3 without time, 1 above the peak"
std::string kindsOf(const ImpossibleKernels& found) {
  std::vector<std::string> words;
  for (std::size_t kind = 0; kind < found.ofKind.size(); ++kind)
    if (found.ofKind[kind] > 0)
      words.push_back(fmt::format(
          "{} {}", found.ofKind[kind], word(static_cast<engine::device::Impossibility>(kind))));
  return fmt::format("{}", fmt::join(words, ", "));
}

Outcome judgeTimes(const ImpossibleKernels& found, const Parameters& parameters) {
  Outcome outcome;
  outcome.samples = found.kernels;
  outcome.value = static_cast<double>(found.impossible) / static_cast<double>(found.kernels);
  outcome.threshold = parameters.real("max_share");
  outcome.verdict = *outcome.value > *outcome.threshold ? Verdict::Fired : Verdict::Pass;
  outcome.evidence = {{"impossible", found.impossible},
                      {"kernels", found.kernels},
                      {"waited_for", found.waitedFor},
                      {"compared_with_peak", found.compared}};
  for (std::size_t kind = 0; kind < found.ofKind.size(); ++kind)
    outcome.evidence[keyOf(static_cast<engine::device::Impossibility>(kind))] = found.ofKind[kind];
  if (found.impossible == 0) {
    outcome.message = fmt::format(
        "the times of all {} kernels are possible; {} of them could be compared with the device's "
        "peak",
        found.kernels,
        found.compared);
    return outcome;
  }
  outcome.evidence["first"] = found.firstName;
  outcome.time = TimeRange{found.firstNs, found.firstNs};
  outcome.message = fmt::format("{} of {} kernels have impossible times: {}; the first is {}",
                                found.impossible,
                                found.kernels,
                                kindsOf(found),
                                found.firstName);
  return outcome;
}

Finding withoutKernels(const RankList& list) {
  Finding finding{"job", {}};
  const bool isSkipped = list.mayHave("cuda");
  finding.outcome.verdict = isSkipped ? Verdict::Skipped : Verdict::Insufficient;
  finding.outcome.inputMissing = !isSkipped;
  finding.outcome.message =
      isSkipped ? "the job gave no work to a device"
                : "work of devices was not recorded: record it with --sources +cuda";
  return finding;
}

Result<std::vector<Finding>> judgeImpossible(Facts& facts, const Parameters& parameters) {
  SONDE_TRY_ASSIGN(const auto all,
                   engine::device::impossibleKernels(facts.trace(),
                                                     {parameters.integer("max_overlap_ns"),
                                                      parameters.integer("max_late_ns"),
                                                      parameters.real("max_of_peak")}));
  SONDE_TRY_ASSIGN(const RankList* const list, facts.of<RankList>());
  std::vector<Finding> findings;
  for (const ImpossibleKernels& found : all)
    findings.push_back(
        {list->nameOf(found.processId, found.rank, found.pid), judgeTimes(found, parameters)});
  if (findings.empty())
    findings.push_back(withoutKernels(*list));
  return findings;
}

}  // namespace

RuleInfo impossibleKernels() {
  RuleInfo info;
  info.name = "impossible-kernels";
  info.profile = Profile::Performance;
  info.isOptional = true;
  info.summary = "recorded times of kernels cannot be true";
  info.details =
      "A kernel's time is impossible if it is zero or negative; if the next kernel of its stream "
      "begins more than\n"
      "`max_overlap_ns` before it ends (CUDA graphs and devices from Hopper on may do that); if it "
      "ends more than\n"
      "`max_late_ns` after a call returned that waited for it; or if its product of matrices or "
      "attention, of recorded\n"
      "sizes, was faster than `max_of_peak` times the published peak of the device. Fires if more "
      "than `max_share` of the\n"
      "kernels have such times: then results about time are wrong, too.";
  info.needs = "cuda";
  info.hint =
      "do not trust times of this trace: update the driver and the profiler that recorded it, and "
      "record again";
  info.next = {"sonde doctor", "sonde report TRACE"};
  info.parameters = {
      {"max_share", 0.001, "largest healthy share of impossible kernels", 0, 1},
      {"max_overlap_ns", std::int64_t{1'000}, "shorter overlaps are possible", 0, 1e12},
      {"max_late_ns", std::int64_t{20'000}, "clocks may differ by this", 0, 1e12},
      {"max_of_peak", 2.0, "fastest possible arithmetic, as a factor of the peak", 1, 1e6},
  };
  info.judge = JobJudge(judgeImpossible);
  return info;
}

}  // namespace sonde::rules
