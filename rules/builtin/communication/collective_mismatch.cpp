#include "rules/builtin/communication/communication_rules.h"
#include "rules/builtin/communication/differing_calls.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace sonde::rules {
namespace {

using Part = std::string (*)(const CallRow&);
struct Aspect {
  const char* name;
  Part of;
};
constexpr Aspect kAspects[] = {
    {"operation", [](const CallRow& call) { return call.op; }},
    {"type", [](const CallRow& call) { return call.dtype; }},
    {"size", [](const CallRow& call) { return call.size; }},
    {"root",
     [](const CallRow& call) { return call.root ? fmt::format("{}", *call.root) : std::string(); }},
    {"state", [](const CallRow& call) { return call.state; }},
};

struct Odd {
  const char* aspect = "";
  std::map<std::string, std::vector<std::string>> ranks;  // by what they passed
};

// The first aspect in which the ranks differ: another operation explains another size.
std::optional<Odd> oddOf(const std::vector<CallRow>& calls) {
  for (const Aspect& aspect : kAspects) {
    Odd odd{aspect.name, {}};
    for (const CallRow& call : calls)
      if (const std::string part = aspect.of(call); !part.empty())
        odd.ranks[part].push_back(call.name);
    if (odd.ranks.size() > 1)
      return odd;
  }
  return std::nullopt;
}

// The ranks that differ from most others. Without a majority all are named.
std::set<std::string> minorityOf(const Odd& odd) {
  std::size_t most = 0;
  std::size_t groups = 0;
  for (const auto& [part, ranks] : odd.ranks) {
    groups = ranks.size() > most ? 1 : groups + (ranks.size() == most ? 1 : 0);
    most = std::max(most, ranks.size());
  }
  std::set<std::string> minority;
  for (const auto& [part, ranks] : odd.ranks)
    if (ranks.size() < most || groups > 1)
      minority.insert(ranks.begin(), ranks.end());
  return minority;
}

std::string whatRanksPassed(const Odd& odd) {
  std::vector<std::string> parts;
  for (const auto& [part, ranks] : odd.ranks)
    parts.push_back(ranks.size() > 4 ? fmt::format("{} on {} ranks", part, ranks.size())
                                     : fmt::format("{} on {}", part, fmt::join(ranks, ", ")));
  return fmt::format("{}", fmt::join(parts, ", "));
}

struct Mismatch {
  std::vector<CallRow> calls;
  Odd odd;

  std::int64_t sinceNs() const {
    std::int64_t first = INT64_MAX;
    for (const CallRow& call : calls)
      first = std::min(first, call.startNs.value_or(INT64_MAX));
    return first;
  }
};

std::vector<Mismatch> mismatchesOf(const std::vector<CallRow>& rows) {
  std::vector<Mismatch> found;
  for (std::size_t begin = 0; begin < rows.size();) {
    std::size_t end = begin;
    while (end < rows.size() && rows[end].jobKey == rows[begin].jobKey &&
           rows[end].seq == rows[begin].seq && rows[end].part == rows[begin].part)
      ++end;
    std::vector<CallRow> calls(rows.begin() + static_cast<std::ptrdiff_t>(begin),
                               rows.begin() + static_cast<std::ptrdiff_t>(end));
    if (auto odd = oddOf(calls))
      found.push_back({std::move(calls), *std::move(odd)});
    begin = end;
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return a.sinceNs() < b.sinceNs();
  });
  return found;
}

Finding findingOf(const Mismatch& first, std::size_t all, const std::string& entity) {
  Finding finding{entity, {}};
  Outcome& outcome = finding.outcome;
  const CallRow& call = first.calls.front();
  outcome.verdict = Verdict::Fired;
  outcome.value = static_cast<double>(all);
  outcome.threshold = 0;
  outcome.samples = static_cast<std::int64_t>(first.calls.size());
  outcome.message = fmt::format("the {} of collective {} of group {} differs: {}",
                                first.odd.aspect,
                                call.seq,
                                call.jobKey,
                                whatRanksPassed(first.odd));
  if (all > 1)
    outcome.message += fmt::format("; {} collectives differ", all);
  outcome.evidence = {{"aspect", std::string(first.odd.aspect)},
                      {"group", call.jobKey},
                      {"seq", call.seq},
                      {"collectives", static_cast<std::int64_t>(all)}};
  for (const auto& [part, ranks] : first.odd.ranks)
    outcome.evidence[part] = ranks;
  outcome.time = TimeRange{first.sinceNs(), first.sinceNs()};
  outcome.query = fmt::format(
      "SELECT rank, op, dtype, bytes, root FROM v_collective WHERE seq = {} ORDER BY rank",
      call.seq);
  return finding;
}

Result<std::vector<Finding>> judgeMismatch(Facts& facts, const Parameters&) {
  SONDE_TRY_ASSIGN(const DifferingCalls differing, readDifferingCalls(facts.trace()));
  Finding whole{"job", {}};
  whole.outcome.samples = differing.joined;
  if (differing.joined == 0) {
    SONDE_TRY_ASSIGN(
        const std::int64_t ranks,
        facts.trace().queryInteger("SELECT max(coalesce(world_size, 1)) FROM process"));
    if (differing.calls == 0 && ranks <= 1) {
      whole.outcome.verdict = Verdict::Skipped;
      whole.outcome.message = "the job has one rank";
    } else {
      whole.outcome.inputMissing = true;
      whole.outcome.message =
          differing.calls == 0 ? "no collective was recorded"
                               : "no collective of two ranks is here: give the traces of all ranks";
    }
    return std::vector{std::move(whole)};
  }
  const std::vector<Mismatch> found = mismatchesOf(differing.rows);
  if (found.empty()) {
    whole.outcome.verdict = Verdict::Pass;
    whole.outcome.value = 0;
    whole.outcome.threshold = 0;
    whole.outcome.message = fmt::format("{} collectives agree on all ranks", differing.joined);
    return std::vector{std::move(whole)};
  }
  std::vector<Finding> findings;
  for (const std::string& rank : minorityOf(found.front().odd))
    findings.push_back(findingOf(found.front(), found.size(), rank));
  return findings;
}

}  // namespace

RuleInfo collectiveMismatch() {
  RuleInfo info;
  info.name = "collective-mismatch";
  info.profile = Profile::Ci;
  info.isForProduction = true;
  info.isOptional = true;
  info.comparesRanks = true;
  info.summary = "ranks called different collectives, or passed other sizes, types or roots";
  info.details =
      "Compares the parts of the ranks in each collective of a group: operation, type of the "
      "elements, size and root must be\n"
      "the same. There is a finding for each rank that differs from most others; without a "
      "majority for all of them. The\n"
      "message is about the first such collective. In dumps of PyTorch's NCCL flight recorder the "
      "shapes are compared, and\n"
      "whether the collective has finished; shapes may differ in an all-to-all, in the inputs of a "
      "scatter and the outputs\n"
      "of a gather.";
  info.needs = "gloo,nccl,mpi";
  info.hint =
      "look for a branch that depends on the rank or on data, or a last batch of another size";
  info.next = {"sonde report TRACE"};
  info.judge = JobJudge(judgeMismatch);
  return info;
}

}  // namespace sonde::rules
