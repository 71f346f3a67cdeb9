#include "analysis/engine/device/kernel_profile.h"
#include "analysis/store/each_row.h"
#include "rules/builtin/device/device_judge.h"
#include "rules/builtin/device/device_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>

namespace sonde::rules {
namespace {

using engine::device::KernelProfile;

// A process that may run alone, and the kernels of its iterations.
struct SingleJob {
  std::string name;
  std::int64_t iterations = 0;
  KernelProfile profile;
};

// Processes that trained together with others: in a group, or with kernels that communicate.
Result<std::set<std::int64_t>> groupedProcesses(const store::Database& trace) {
  std::set<std::int64_t> grouped;
  SONDE_TRY(store::forEachRow(trace,
                              "SELECT process_id FROM communicator WHERE size > 1 UNION SELECT "
                              "process_id FROM collective WHERE communicator_id IS NULL UNION "
                              "SELECT id FROM process WHERE world_size > 1 UNION SELECT process_id "
                              "FROM channel WHERE kind IN ('tcp', 'mpi', 'nccl') AND "
                              "peer_channel_id IS NOT NULL",
                              [&](const store::Statement& row) -> Result<void> {
                                grouped.insert(row.integer(0));
                                return {};
                              }));
  return grouped;
}

// Jobs whose kernels are like those of the first one of their group, by number of jobs.
std::vector<std::vector<const SingleJob*>> groupsOf(const std::vector<SingleJob>& jobs,
                                                    double minSimilarity) {
  std::vector<std::vector<const SingleJob*>> groups;
  for (const SingleJob& job : jobs) {
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& each) {
      return similarityOf(each.front()->profile, job.profile) >= minSimilarity;
    });
    if (group != groups.end())
      group->push_back(&job);
    else
      groups.push_back({&job});
  }
  std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
    return a.size() > b.size();
  });
  return groups;
}

Outcome verdictOnJobs(Verdict verdict, std::string message) {
  Outcome outcome;
  outcome.verdict = verdict;
  outcome.message = std::move(message);
  return outcome;
}

Outcome judgeFusable(const std::vector<const SingleJob*>& same, const Parameters& parameters) {
  Outcome outcome;
  std::vector<std::string> names;
  double most = 0;
  double similarity = 1;
  for (const SingleJob* job : same) {
    names.push_back(job->name);
    most = std::max(most, job->profile.used);
    similarity = std::min(similarity, similarityOf(same.front()->profile, job->profile));
    outcome.samples += job->iterations;
  }
  outcome.value = most;
  outcome.threshold = parameters.real("max_used");
  outcome.verdict = most < *outcome.threshold ? Verdict::Fired : Verdict::Pass;
  outcome.evidence = {{"jobs", names}, {"similarity", similarity}, {"most_used", most}};
  outcome.message = fmt::format(
      "{} independent jobs train the same model, and each uses at most {:.0f} % of its device: {}",
      same.size(),
      100 * most,
      fmt::join(names, ", "));
  outcome.next = {fmt::format("sonde whatif TRACE --ask fused-jobs,jobs={}", same.size())};
  return outcome;
}

Result<std::vector<SingleJob>> readJobs(Facts& facts, const RankList& list) {
  SONDE_TRY_ASSIGN(const std::set<std::int64_t> grouped, groupedProcesses(facts.trace()));
  std::vector<SingleJob> jobs;
  for (const engine::metrics::RankProcess& rank : list.ranks) {
    if (grouped.contains(rank.processId))
      continue;
    SONDE_TRY_ASSIGN(KernelProfile profile, engine::device::kernelProfile(facts.trace(), rank));
    if (profile.communicating > 0)
      continue;
    jobs.push_back(
        {rank.name, static_cast<std::int64_t>(rank.iterations.size()), std::move(profile)});
  }
  return jobs;
}

Result<std::vector<Finding>> judgeFusableJobs(Facts& facts, const Parameters& parameters) {
  SONDE_TRY_ASSIGN(const RankList* const list, facts.of<RankList>());
  SONDE_TRY_ASSIGN(std::vector<SingleJob> jobs, readJobs(facts, *list));
  const auto found = [](Outcome outcome) {
    return std::vector{Finding{"job", std::move(outcome)}};
  };
  if (jobs.size() < 2)
    return found(verdictOnJobs(Verdict::Skipped,
                               list->ranks.size() < 2
                                   ? "the trace has one process that trains"
                                   : "its processes train together, as one job"));
  const auto few = parameters.integer("min_samples");
  std::erase_if(
      jobs, [&](const SingleJob& job) { return job.iterations < few || job.profile.shaped == 0; });
  if (jobs.size() < 2)
    return found(verdictOnJobs(
        Verdict::Insufficient,
        fmt::format("{} processes with {} iterations and kernels with known shapes, but two are "
                    "needed",
                    jobs.size(),
                    few)));
  const auto groups = groupsOf(jobs, parameters.real("min_similarity"));
  if (groups.front().size() < 2)
    return found(verdictOnJobs(
        Verdict::Pass, fmt::format("the {} independent jobs train other models", jobs.size())));
  return found(judgeFusable(groups.front(), parameters));
}

}  // namespace

RuleInfo fusableJobs() {
  RuleInfo info;
  info.name = "fusable-jobs";
  info.profile = Profile::Performance;
  info.summary = "independent jobs train the same model, and each leaves much of its device unused";
  info.details =
      "Compares the kernels of an iteration, by name, blocks and threads, of processes that train "
      "without collectives: the\n"
      "kernels that two have in common divided by those that either has. Two jobs are the same "
      "from `min_similarity` on.\n"
      "Fires if the busiest of the same jobs uses less than `max_used` of its device. A kernel of "
      "fewer blocks than the\n"
      "device has multiprocessors uses a part of it. It needs `min_samples` iterations of each.";
  info.needs = "cuda";
  info.hint =
      "train them as one job whose operators are fused (HFTA, torch.func.vmap over models), or "
      "share the device by MPS";
  info.next = {"sonde whatif TRACE --ask fused-jobs,jobs=2"};
  info.parameters = {
      {"max_used", 0.5, "a job that uses this share of its device is healthy", 0, 1},
      {"min_similarity", 0.9, "jobs with this share of kernels in common are the same", 0, 1},
      {"min_samples", std::int64_t{3}, "jobs with fewer iterations do not count", 1, 1e9},
  };
  info.judge = judgeIfDevices(judgeFusableJobs);
  return info;
}

}  // namespace sonde::rules
