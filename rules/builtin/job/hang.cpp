#include "analysis/engine/standstill/dumps.h"
#include "analysis/engine/standstill/open_work.h"
#include "analysis/engine/standstill/rank_stacks.h"
#include "analysis/engine/standstill/standstill.h"
#include "rules/builtin/job/hang_stacks.h"
#include "rules/builtin/job/job_rules.h"
#include "rules/builtin/job/wait_graph.h"
#include "rules/facts/process_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace sonde::rules {
namespace {

using engine::standstill::OpenCall;
using engine::standstill::RankState;
using engine::standstill::Rendezvous;
using engine::standstill::Standstill;

constexpr double kNsPerSecond = 1e9;

Finding hangFinding(Verdict verdict, std::string message) {
  Finding finding{"job", {}};
  finding.outcome.verdict = verdict;
  finding.outcome.message = std::move(message);
  return finding;
}

// Whether an iteration has ended less than `thresholdNs` before the recording's watermark: then
// nothing stands still, and nothing else need be read. Only asked while the job runs.
Result<bool> hasJustProgressed(Facts& facts, double thresholdNs) {
  const auto watermark = facts.trace().queryInteger(
      "SELECT value FROM meta WHERE key = 'watermark_ns' AND NOT EXISTS (SELECT 1 FROM meta WHERE "
      "key = 'finished')");
  if (!watermark)
    return false;
  SONDE_TRY_ASSIGN(const RunFacts* const run, facts.of<RunFacts>());
  return std::any_of(run->processes().begin(), run->processes().end(), [&](const auto* process) {
    return static_cast<double>(*watermark - process->steps.back().endNs()) < thresholdNs;
  });
}

// The end of the recording; unset for dumps, which do not say when they were written.
std::optional<std::int64_t> endOf(const Standstill& found) {
  return found.isDump ? std::nullopt : std::optional(found.untilNs);
}

std::string describe(const OpenCall& call, std::optional<std::int64_t> untilNs) {
  std::string name =
      call.kind == "collective" && call.seq ? fmt::format("{} {}", call.op, *call.seq) : call.name;
  if (call.peer)
    name += fmt::format(" with rank {}", *call.peer);
  if (!untilNs)
    return fmt::format("{} {}", call.kind, name);
  return fmt::format("{} {} since {:.1f} s",
                     call.kind,
                     name,
                     static_cast<double>(*untilNs - call.sinceNs) / kNsPerSecond);
}

std::vector<std::string> openCallsOf(const RankState& rank, std::optional<std::int64_t> untilNs) {
  std::vector<std::string> calls;
  for (const OpenCall& call : rank.open)
    calls.push_back(describe(call, untilNs));
  return calls;
}

// On its first thread. Requires: something is open.
const OpenCall& innermostOf(const RankState& rank) {
  std::size_t innermost = 0;
  while (innermost + 1 < rank.open.size() &&
         rank.open[innermost + 1].threadId == rank.open.front().threadId)
    ++innermost;
  return rank.open[innermost];
}

std::string stateOf(const RankState& rank, std::optional<std::int64_t> untilNs) {
  const bool isKilled = rank.state == "signalled";
  const std::string killed = fmt::format("signal {} killed it", rank.exitSignal.value_or(0));
  if (rank.state == "exited")
    return "it has ended";
  if (rank.open.empty() && !untilNs)
    return "its dump has no unfinished call";
  if (rank.open.empty())
    return isKilled ? killed : "it is in no recorded call";
  if (!untilNs)
    return fmt::format("its oldest unfinished call is {}", describe(rank.open.front(), untilNs));
  const std::string call = describe(innermostOf(rank), untilNs);
  return isKilled ? fmt::format("it was in {} when {}", call, killed) : "it is in " + call;
}

const RankState* findRank(const Standstill& found, const std::string& name) {
  const auto rank = std::find_if(
      found.ranks.begin(), found.ranks.end(), [&](const auto& each) { return each.name == name; });
  return rank == found.ranks.end() ? nullptr : &*rank;
}

void addRendezvous(const Rendezvous& one, Outcome& outcome) {
  outcome.evidence["collective"] = one.op;
  outcome.evidence["group"] = one.group;
  if (one.seq)
    outcome.evidence["seq"] = *one.seq;
  if (one.bytes)
    outcome.evidence["bytes"] = *one.bytes;
}

// The collective that the entity has not entered; nullptr: none.
const Rendezvous* missedBy(const Standstill& found, const std::string& name) {
  for (const Rendezvous& one : found.rendezvous)
    for (const Rendezvous::Member& member : one.absent)
      if (member.name == name)
        return &one;
  return nullptr;
}

const engine::standstill::Behind* behindOf(const Standstill& found, const std::string& name) {
  const auto behind = std::find_if(found.behind.begin(), found.behind.end(), [&](const auto& each) {
    return each.name == name;
  });
  return behind == found.behind.end() ? nullptr : &*behind;
}

void addBehind(const engine::standstill::Behind& behind, Outcome& outcome) {
  const std::vector<std::string> doneBy(behind.doneBy.begin(), behind.doneBy.end());
  outcome.evidence["collective"] = behind.op;
  outcome.evidence["group"] = behind.group;
  outcome.evidence["seq"] = behind.seq;
  outcome.evidence["finished_by"] = doneBy;
  outcome.message = fmt::format(
      "has not finished {} {}, which {} finished", behind.op, behind.seq, whoWaits(doneBy));
}

std::string howLong(const Standstill& found, double stillSeconds) {
  return found.isDump ? std::string("the job stood still when the dumps were written")
                      : fmt::format("the job has stood still for {:.1f} s", stillSeconds);
}

Finding culpritFinding(const Standstill& found, const Culprit& culprit, double stillSeconds) {
  Finding finding = hangFinding(Verdict::Fired, "");
  finding.entity = culprit.name;
  Outcome& outcome = finding.outcome;
  std::string message;
  if (const auto* const behind = behindOf(found, culprit.name)) {
    addBehind(*behind, outcome);
    message = outcome.message;
  } else if (const Rendezvous* const missed = missedBy(found, culprit.name)) {
    addRendezvous(*missed, outcome);
    message = fmt::format(
        "has not entered {}{}", missed->op, missed->seq ? fmt::format(" {}", *missed->seq) : "");
  } else if (culprit.isInCircle) {
    message = "waits in a circle";
  } else {
    message = "makes no progress";
  }
  if (!culprit.waiting.empty())
    message += fmt::format("; {} {} for it",
                           whoWaits(culprit.waiting),
                           culprit.waiting.size() == 1 ? "waits" : "wait");
  message += "; " + howLong(found, stillSeconds);
  if (const RankState* const rank = findRank(found, culprit.name)) {
    message += "; " + stateOf(*rank, endOf(found));
    outcome.evidence["open_calls"] = openCallsOf(*rank, endOf(found));
    if (rank->last)
      outcome.evidence["last_collective"] =
          fmt::format("{} {}", rank->last->op, rank->last->seq.value_or(-1));
  } else {
    message += "; its trace is not here";
  }
  outcome.message = std::move(message);
  outcome.evidence["waiting"] = culprit.waiting;
  return finding;
}

// Nobody can be named: all have entered, or what they wait for was not recorded.
Finding jobFinding(const Standstill& found, double stillSeconds) {
  Finding finding = hangFinding(Verdict::Fired, "");
  std::vector<std::string> ranks;
  for (const RankState& rank : found.ranks)
    ranks.push_back(fmt::format("{}: {}", rank.name, stateOf(rank, endOf(found))));
  finding.outcome.evidence["ranks"] = ranks;
  std::string what = "and no record says who is waited for";
  if (!found.rendezvous.empty()) {
    const Rendezvous& one = found.rendezvous.front();
    addRendezvous(one, finding.outcome);
    what = one.absent.empty() && one.unknown == 0
               ? fmt::format("and all members are in {} {}", one.op, one.seq.value_or(-1))
               : fmt::format("in {} {}, and the traces of the other ranks are not here",
                             one.op,
                             one.seq.value_or(-1));
  }
  finding.outcome.message = fmt::format("{} {}", howLong(found, stillSeconds), what);
  return finding;
}

Result<std::vector<Finding>> findingsOf(const store::Database& trace,
                                        const Standstill& found,
                                        double thresholdSeconds) {
  SONDE_TRY_ASSIGN(const auto stacks, engine::standstill::readRankStacks(trace, found.ranks));
  const double stillSeconds = static_cast<double>(found.untilNs - found.sinceNs) / kNsPerSecond;
  std::vector<Finding> findings;
  for (const Culprit& culprit : culpritsOf(found))
    findings.push_back(culpritFinding(found, culprit, stillSeconds));
  if (findings.empty())
    findings.push_back(jobFinding(found, stillSeconds));
  for (Finding& finding : findings) {
    if (!found.isDump) {
      finding.outcome.value = stillSeconds;
      finding.outcome.threshold = thresholdSeconds;
    }
    finding.outcome.samples = static_cast<std::int64_t>(found.ranks.size());
    finding.outcome.time = TimeRange{found.sinceNs, found.untilNs};
    addStacks(stacks, found.isDump ? StackLines::OfCalls : StackLines::OfFunctions, finding);
  }
  return findings;
}

// Whether it does something that may take long, by the word of the program.
bool isBusy(const RankState& rank) {
  if (rank.open.empty())
    return false;
  const std::string& kind = innermostOf(rank).kind;
  return kind == "checkpoint" || kind == "evaluation" || kind == "phase" || kind == "operation";
}

// Whether all ranks that would be blamed are busy.
bool mayBeHealthy(const Standstill& found) {
  const std::vector<Culprit> culprits = culpritsOf(found);
  return !culprits.empty() &&
         std::all_of(culprits.begin(), culprits.end(), [&](const Culprit& culprit) {
           const RankState* const rank = findRank(found, culprit.name);
           return rank != nullptr && rank->state == "running" && isBusy(*rank);
         });
}

Result<std::vector<Finding>> judgeDumps(const store::Database& trace) {
  SONDE_TRY_ASSIGN(const auto found, engine::standstill::readDumps(trace));
  if (!found)
    return std::vector{
        hangFinding(Verdict::Pass, "no rank's dump has an unfinished collective or message")};
  return findingsOf(trace, *found, 0);
}

Result<std::vector<Finding>> judgeHang(Facts& facts, const Parameters& parameters) {
  const store::Database& trace = facts.trace();
  const double threshold = parameters.real("threshold_s");
  SONDE_TRY_ASSIGN(
      const std::int64_t isRecording,
      trace.queryInteger("SELECT EXISTS (SELECT 1 FROM process WHERE start_time IS NOT "
                         "NULL) AND EXISTS (SELECT 1 FROM sqlite_schema WHERE name = "
                         "'v_open_call')"));
  SONDE_TRY_ASSIGN(const bool isDump, engine::standstill::holdsDumps(trace));
  if (isDump)
    return judgeDumps(trace);
  if (isRecording == 0) {
    Finding finding = hangFinding(
        Verdict::Insufficient,
        "the trace does not say what was open at its end: record the job with sonde run");
    finding.outcome.inputMissing = true;
    return std::vector{std::move(finding)};
  }
  const std::vector healthy{hangFinding(Verdict::Pass, "the job made progress until its end")};
  SONDE_TRY_ASSIGN(const bool progressed, hasJustProgressed(facts, threshold * kNsPerSecond));
  if (progressed)
    return healthy;
  SONDE_TRY_ASSIGN(const store::Database* const recent, facts.recent());
  SONDE_TRY_ASSIGN(const auto found, engine::standstill::readStandstill(*recent));
  if (!found)
    return healthy;
  SONDE_TRY_ASSIGN(const RunFacts* const run, facts.of<RunFacts>());
  const bool hasBegun = !run->processes().empty() ||
                        std::any_of(found->ranks.begin(),
                                    found->ranks.end(),
                                    [](const RankState& rank) { return rank.last.has_value(); });
  double limit = threshold;
  if (!hasBegun)
    limit = std::max(limit, parameters.real("startup_s"));
  if (mayBeHealthy(*found))
    limit = std::max(limit, parameters.real("busy_s"));
  if (static_cast<double>(found->untilNs - found->sinceNs) < limit * kNsPerSecond)
    return healthy;
  return findingsOf(*recent, *found, limit);
}

}  // namespace

RuleInfo hang() {
  RuleInfo info;
  info.name = "hang";
  info.profile = Profile::Ci;
  info.isForProduction = true;
  info.isOptional = true;
  info.comparesRanks = true;
  info.summary = "the job stands still: no rank makes progress";
  info.details =
      "A rank makes progress when one of its scopes, collectives, messages, kernels or copies "
      "ends. The rule fires when\n"
      "no rank has made any for `threshold_s` seconds and for twice the longest iteration, and "
      "something is open. Before\n"
      "the first iteration or collective has ended, `startup_s` is the limit. If all ranks that "
      "would be named are in a\n"
      "checkpoint, an evaluation, a phase or an operation, `busy_s` is. There is a finding for "
      "each "
      "rank that the others\n"
      "wait for and that waits for nobody; it says who waits in which collective since when.";
  info.needs = "annotation,gloo,nccl,mpi";
  info.hint =
      "look at what the named rank does: its open calls, its stack, its machine; a rank that "
      "took another branch has called another collective";
  info.next = {"sonde report TRACE", "sonde stacks TRACE"};
  info.parameters = {
      {"threshold_s", 8.0, "seconds without progress that are still healthy", 1, 1e6},
      {"startup_s", 600.0, "the same before the first iteration or collective has ended", 1, 1e6},
      {"busy_s", 300.0, "the same while the ranks that others wait for say that they work", 1, 1e6},
  };
  info.judge = JobJudge(judgeHang);
  return info;
}

}  // namespace sonde::rules
