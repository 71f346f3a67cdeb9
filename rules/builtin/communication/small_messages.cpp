#include "rules/builtin/communication/communication_rules.h"
#include "rules/facts/job_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace sonde::rules {
namespace {

struct SmallCollectives {
  std::int64_t small = 0;
  std::int64_t ns = 0;
  std::int64_t all = 0;
  std::int64_t allNs = 0;
  std::int64_t withBytes = 0;
};

// By process: collectives of gradients and parameters, and the small ones of them.
std::map<std::int64_t, SmallCollectives> countSmall(const DeviceFacts& facts, std::int64_t limit) {
  std::map<std::int64_t, SmallCollectives> counts;
  for (const engine::device::JoinedCollective& one : facts.summary.collectives) {
    if (one.op != "allreduce" && one.op != "reducescatter" && one.op != "allgather" &&
        one.op != "reduce" && one.op != "broadcast")
      continue;
    for (const engine::device::Arrival& arrival : one.arrivals) {
      SmallCollectives& count = counts[arrival.processId];
      const std::int64_t ns = arrival.endNs - arrival.beginNs;
      ++count.all;
      count.allNs += ns;
      count.withBytes += one.bytes ? 1 : 0;
      if (one.bytes && *one.bytes < limit) {
        ++count.small;
        count.ns += ns;
      }
    }
  }
  return counts;
}

Outcome judgeSmall(const SmallCollectives& count,
                   std::int64_t iterations,
                   const Parameters& parameters) {
  Outcome outcome;
  outcome.samples = count.all;
  if (count.all == 0) {
    outcome.verdict = Verdict::Skipped;
    outcome.message = "the rank takes part in no collective of data";
    return outcome;
  }
  if (iterations == 0 || count.withBytes == 0) {
    outcome.message = iterations == 0 ? "no iteration was recorded: mark iterations with "
                                        "sonde.iteration()"
                                      : "the sizes of the collectives were not recorded";
    return outcome;
  }
  const double each = static_cast<double>(count.small) / static_cast<double>(iterations);
  const double share =
      count.allNs > 0 ? static_cast<double>(count.ns) / static_cast<double>(count.allNs) : 0;
  outcome.value = each;
  outcome.threshold = parameters.real("max_per_iteration");
  outcome.verdict = each > *outcome.threshold && share >= parameters.real("min_share")
                        ? Verdict::Fired
                        : Verdict::Pass;
  outcome.evidence = {
      {"small", count.small}, {"collectives", count.all}, {"ns", count.ns}, {"share", share}};
  outcome.message = fmt::format(
      "{:.1f} collectives per iteration carry less than {} bytes; they take {:.0f} % of the time "
      "in "
      "collectives",
      each,
      parameters.integer("small_bytes"),
      100 * share);
  return outcome;
}

Result<std::vector<Finding>> judgeSmallMessages(Facts& facts, const Parameters& parameters) {
  SONDE_TRY_ASSIGN(const DeviceFacts* const all, facts.of<DeviceFacts>());
  auto counts = countSmall(*all, parameters.integer("small_bytes"));
  std::vector<Finding> findings;
  for (const engine::metrics::RankProcess& rank : all->list.ranks)
    findings.push_back({rank.name,
                        judgeSmall(counts[rank.processId],
                                   static_cast<std::int64_t>(rank.iterations.size()),
                                   parameters)});
  return findings;
}

}  // namespace

RuleInfo smallMessages() {
  RuleInfo info;
  info.name = "small-messages";
  info.profile = Profile::Performance;
  info.summary = "many collectives of an iteration carry little data: unfused buckets";
  info.details =
      "Counts the collectives with less than `small_bytes`. Fires if an iteration has more than "
      "`max_per_iteration` of them,\n"
      "and they take `min_share` of the time in collectives or more. Each costs the latency of the "
      "network, however little\n"
      "it carries.";
  info.needs = "gloo,nccl,mpi";
  info.hint =
      "raise bucket_cap_mb of DistributedDataParallel, or concatenate tensors before "
      "reducing them";
  info.next = {"sonde whatif TRACE --bucket-size 25MiB",
               "sonde optimize TRACE --questions bucket-size"};
  info.parameters = {
      {"small_bytes", std::int64_t{65'536}, "collectives with less are small", 1, 1e15},
      {"max_per_iteration", 8.0, "healthy number of them in an iteration", 0, 1e9},
      {"min_share", 0.1, "less of the time in collectives is healthy in any case", 0, 1},
  };
  info.judge = JobJudge(judgeSmallMessages);
  return info;
}

}  // namespace sonde::rules
