#include "rules/builtin/series.h"
#include "rules/builtin/training/tensor_difference.h"
#include "rules/builtin/training/tensor_judgement.h"
#include "rules/builtin/training/training_rules.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace sonde::rules {
namespace {

using Series = std::vector<const TensorSeries*>;  // by name

struct Replica {
  const ProcessFacts* process;
  Series tensors;
};

// Processes whose selected tensors have the same names and shapes.
struct ReplicaGroup {
  std::vector<Replica> replicas;
};

Series selectedSeries(const ProcessFacts& process, const Parameters& parameters) {
  Series all;
  for (const TensorSeries& each : process.tensors)
    if (!each.values.empty() &&
        fnmatch(parameters.text("collection").c_str(), each.collection.c_str(), 0) == 0 &&
        fnmatch(parameters.text("tensors").c_str(), each.name.c_str(), 0) == 0)
      all.push_back(&each);
  std::sort(all.begin(), all.end(), [](const auto* a, const auto* b) {
    return std::pair(a->name, a->collection) < std::pair(b->name, b->collection);
  });
  return all;
}

std::vector<ReplicaGroup> groupsOf(const RunFacts& run, const Parameters& parameters) {
  std::map<std::string, ReplicaGroup> groups;
  for (const ProcessFacts* process : run.processes()) {
    Series series = selectedSeries(*process, parameters);
    if (series.empty())
      continue;
    std::string signature;
    for (const TensorSeries* each : series)
      signature +=
          fmt::format("{}\n{}\n{}\n", each->collection, each->name, each->values.front().shape);
    groups[signature].replicas.push_back({process, std::move(series)});
  }
  std::vector<ReplicaGroup> all;
  all.reserve(groups.size());
  for (auto& [signature, group] : groups)
    all.push_back(std::move(group));
  return all;
}

// Iterations that have ended on a replica and in which it recorded a tensor.
std::set<std::int64_t> iterationsOf(const Replica& replica) {
  std::set<std::int64_t> iterations;
  const ProcessView view(*replica.process);
  for (const TensorSeries* series : replica.tensors)
    for (const TensorFact& value : view.of(*series))
      iterations.insert(value.iteration);
  return iterations;
}

std::vector<std::int64_t> commonIterations(const ReplicaGroup& group) {
  std::set<std::int64_t> common = iterationsOf(group.replicas.front());
  for (const Replica& replica : group.replicas) {
    const auto own = iterationsOf(replica);
    for (auto each = common.begin(); each != common.end();)
      each = own.count(*each) == 0 ? common.erase(each) : std::next(each);
  }
  return {common.begin(), common.end()};
}

TensorDifference differenceIn(const Replica& left, const Replica& right, std::int64_t iteration) {
  TensorDifference worst;
  for (std::size_t at = 0; at < left.tensors.size(); ++at) {
    const TensorFact* const a = recordingIn(*left.tensors[at], iteration);
    const TensorFact* const b = recordingIn(*right.tensors[at], iteration);
    if (a == nullptr || b == nullptr)
      continue;
    TensorDifference difference = differenceOf(*a, *b);
    if (difference.share > worst.share) {
      worst = std::move(difference);
      worst.tensor = nameOf(*left.tensors[at]);
    }
  }
  return worst;
}

// Replicas that agree with each other, the most numerous first.
using Camps = std::vector<std::vector<const Replica*>>;

Camps campsOf(const ReplicaGroup& group, std::int64_t iteration, double tolerance) {
  Camps camps;
  for (const Replica& replica : group.replicas) {
    const auto camp = std::find_if(camps.begin(), camps.end(), [&](const auto& each) {
      return differenceIn(*each.front(), replica, iteration).share <= tolerance;
    });
    if (camp == camps.end())
      camps.push_back({&replica});
    else
      camp->push_back(&replica);
  }
  std::stable_sort(
      camps.begin(), camps.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
  return camps;
}

std::vector<std::string> namesOf(const std::vector<const Replica*>& camp) {
  std::vector<std::string> names;
  names.reserve(camp.size());
  for (const Replica* each : camp)
    names.push_back(each->process->name);
  return names;
}

Outcome differing(const ReplicaGroup& group,
                  const std::vector<std::int64_t>& iterations,
                  double tolerance) {
  std::int64_t first = iterations.back();
  for (const std::int64_t each : iterations)
    if (campsOf(group, each, tolerance).size() > 1) {
      first = each;
      break;
    }
  Outcome outcome;
  outcome.verdict = Verdict::Fired;
  outcome.threshold = tolerance;
  outcome.window = windowOf(iterations.back(), iterations.back());
  outcome.samples = static_cast<std::int64_t>(group.replicas.size());
  outcome.evidence["iteration"] = iterations.back();
  outcome.evidence["first_iteration"] = first;
  return outcome;
}

// A finding for each replica outside the majority, or one for the job that names all.
std::vector<Finding> culpritsOf(const ReplicaGroup& group,
                                const Camps& camps,
                                const std::vector<std::int64_t>& iterations,
                                double tolerance) {
  const Outcome base = differing(group, iterations, tolerance);
  const bool hasMajority = 2 * camps.front().size() > group.replicas.size();
  std::vector<Finding> findings;
  for (std::size_t camp = 1; camp < camps.size(); ++camp)
    for (const Replica* each : camps[camp]) {
      const TensorDifference difference =
          differenceIn(*camps.front().front(), *each, iterations.back());
      Finding finding{hasMajority ? each->process->name : "job", base};
      finding.outcome.value = difference.share;
      finding.outcome.evidence["tensor"] = difference.tensor;
      finding.outcome.evidence["ranks"] = namesOf(camps.front());
      finding.outcome.message = fmt::format(
          "{} differs from {} in {} by {:.3g} ({}) in iteration {}",
          each->process->name,
          hasMajority
              ? fmt::format("{} of {} replicas", camps.front().size(), group.replicas.size())
              : fmt::format("{}", fmt::join(namesOf(camps.front()), ", ")),
          difference.tensor,
          difference.share,
          difference.statistic,
          iterations.back());
      findings.push_back(std::move(finding));
    }
  if (hasMajority)
    return findings;
  // Nobody is in the right, so the job has the fault.
  std::vector<std::string> names;
  for (const auto& camp : camps)
    for (std::string& name : namesOf(camp))
      names.push_back(std::move(name));
  findings.front().outcome.evidence["ranks"] = names;
  for (std::size_t at = 1; at < findings.size(); ++at)
    findings.front().outcome.message += "; " + findings[at].outcome.message;
  findings.resize(1);
  return findings;
}

// The first recording that no rule can judge: replicas that share it are not healthy.
std::string unjudgeableIn(const ReplicaGroup& group, std::int64_t iteration) {
  for (const Replica& replica : group.replicas)
    for (const TensorSeries* series : replica.tensors)
      if (const TensorFact* at = recordingIn(*series, iteration); at != nullptr && at->elements > 0)
        if (const auto unclear = unjudgeable(*series, *at))
          return fmt::format("{}: {}", replica.process->name, unclear->text);
  return "";
}

std::vector<Finding> judgeGroup(const ReplicaGroup& group, double tolerance) {
  Finding finding{"job", {}};
  Outcome& outcome = finding.outcome;
  outcome.samples = static_cast<std::int64_t>(group.replicas.size());
  const auto iterations = commonIterations(group);
  if (iterations.empty()) {
    outcome.message = fmt::format("{} replicas recorded their tensors in no common iteration",
                                  group.replicas.size());
    return {finding};
  }
  const std::int64_t newest = iterations.back();
  const Camps camps = campsOf(group, newest, tolerance);
  if (camps.size() > 1)
    return culpritsOf(group, camps, iterations, tolerance);
  outcome.window = windowOf(newest, newest);
  if (outcome.message = unjudgeableIn(group, newest); !outcome.message.empty())
    return {finding};
  outcome.verdict = Verdict::Pass;
  outcome.threshold = tolerance;
  outcome.value = 0.0;
  for (const Replica& each : group.replicas)
    outcome.value =
        std::max(*outcome.value, differenceIn(group.replicas.front(), each, newest).share);
  outcome.message = fmt::format("{} replicas agree within {:.3g} in iteration {}",
                                group.replicas.size(),
                                *outcome.value,
                                newest);
  return {finding};
}

Finding nobodyToCompare(const RunFacts& run, const std::vector<ReplicaGroup>& groups) {
  Finding finding{"job", {}};
  if (run.processes().size() < 2) {
    finding.outcome.verdict = Verdict::Skipped;
    finding.outcome.message = "there is one process: give the traces of all ranks";
  } else if (groups.empty()) {
    finding.outcome.inputMissing = true;
    finding.outcome.message = fmt::format(
        "no such tensors of {} processes: record weights with "
        "sonde run --sources +tensor",
        run.processes().size());
  } else if (groups.size() == 1 && groups.front().replicas.size() == 1) {
    finding.outcome.inputMissing = true;
    finding.outcome.message = fmt::format("only {} recorded such tensors: record all ranks",
                                          groups.front().replicas.front().process->name);
  } else {
    finding.outcome.verdict = Verdict::Skipped;
    finding.outcome.message = "no two ranks have tensors of the same names and shapes";
  }
  return finding;
}

Result<std::vector<Finding>> judgeReplicas(Facts& facts, const Parameters& parameters) {
  SONDE_TRY_ASSIGN(const RunFacts* const run, facts.of<RunFacts>());
  const auto groups = groupsOf(*run, parameters);
  std::vector<Finding> findings;
  for (const ReplicaGroup& group : groups)
    if (group.replicas.size() > 1)
      for (Finding& finding : judgeGroup(group, parameters.real("tolerance")))
        findings.push_back(std::move(finding));
  if (findings.empty())
    findings.push_back(nobodyToCompare(*run, groups));
  return findings;
}

}  // namespace

RuleInfo divergingReplicas() {
  RuleInfo info;
  info.name = "diverging-replicas";
  info.profile = Profile::Ci;
  info.isForProduction = true;
  info.isOptional = true;
  info.comparesRanks = true;
  info.summary = "data-parallel ranks have different weights";
  info.details =
      "Ranks whose selected tensors have the same names and shapes are replicas. Their statistics "
      "l2, mean, minimum,\n"
      "maximum and zeros must be equal up to the share `tolerance` in the newest iteration that "
      "all of them recorded.\n"
      "The mean is compared with the mean magnitude, extremes with the greatest one, zeros with "
      "the number of elements.\n"
      "Fires for each rank that differs from the majority, or for the job if there is none. Shards "
      "of a tensor may look\n"
      "like replicas: with tensor parallelism or sharded weights select by `tensors` those that "
      "are replicated.";
  info.needs = "tensor";
  info.hint =
      "check that all ranks start from the same weights (same seed, or a broadcast), that "
      "gradients are reduced over all of them, and that none skips a step";
  info.next = {
      "sonde sql TRACE \"SELECT t.iteration, n.text, p.rank, t.l2, t.mean FROM tensor t JOIN "
      "string n ON n.id = t.name_id JOIN process p ON p.id = t.process_id WHERE "
      "t.collection = 'weights' ORDER BY 1, 2, 3\""};
  info.parameters = tensorParameters("weights");
  info.parameters.push_back(
      {"tolerance", 1e-6, "share by which statistics of replicas may differ", 0, 1});
  info.judge = JobJudge(judgeReplicas);
  return info;
}

}  // namespace sonde::rules
