#include "cli/report/report_standstill.h"

#include "cli/text/json_value.h"
#include "cli/text/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace sonde::cli {
namespace {

namespace standstill = engine::standstill;
using nlohmann::json;
using standstill::OpenCall;
using standstill::Rendezvous;
using standstill::Standstill;

constexpr std::size_t kMostRendezvous = 3;
constexpr std::size_t kMostRanks = 4;
constexpr std::size_t kMostNames = 6;

std::string opTitle(const std::string& op) {
  constexpr std::pair<std::string_view, std::string_view> kTitles[] = {
      {"allreduce", "all-reduce"},
      {"allgather", "all-gather"},
      {"reducescatter", "reduce-scatter"},
      {"alltoall", "all-to-all"}};
  for (const auto& [word, title] : kTitles)
    if (op == word)
      return std::string(title);
  return op;
}

// "all-reduce 17".
std::string numbered(const std::string& op, const std::optional<std::int64_t>& seq) {
  return seq ? fmt::format("{} {}", opTitle(op), *seq) : opTitle(op);
}

std::string joinNames(const std::vector<Rendezvous::Member>& members) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at < members.size() && at < kMostNames; ++at)
    names.push_back(members[at].name);
  const std::string more = members.size() > kMostNames
                               ? fmt::format(" and {} more", members.size() - kMostNames)
                               : std::string();
  return fmt::format("{}{}", fmt::join(names, ", "), more);
}

std::string absentText(const Rendezvous::Member& member,
                       std::optional<std::int64_t> seq,
                       std::int64_t sinceNs) {
  if (!member.isHere)
    return fmt::format("the trace of {} is missing", member.name);
  if (!member.otherOp.empty())
    return fmt::format("{} has called {} instead", member.name, numbered(member.otherOp, seq));
  if (member.knownUntilNs)
    return fmt::format("{} may have entered it: its trace ends {} earlier",
                       member.name,
                       humanDuration(sinceNs - *member.knownUntilNs));
  if (!member.last)
    return fmt::format("{} has not entered it, nor any earlier one", member.name);
  return fmt::format("{} has not entered it: its last is {}",
                     member.name,
                     numbered(member.last->op, member.last->seq));
}

std::string rendezvousText(const Rendezvous& one, std::int64_t untilNs) {
  std::int64_t sinceNs = untilNs;
  for (const Rendezvous::Member& member : one.entered)
    sinceNs = std::min(sinceNs, member.sinceNs.value_or(untilNs));
  std::string text = fmt::format("{} wait{} in {} ({}group {}) for {}",
                                 joinNames(one.entered),
                                 one.entered.size() == 1 ? "s" : "",
                                 numbered(one.op, one.seq),
                                 one.bytes ? humanBytes(*one.bytes) + ", " : "",
                                 one.group,
                                 humanDuration(untilNs - sinceNs));
  if (one.absent.empty() && one.unknown == 0)
    return text + "; all others have entered it";
  for (std::size_t at = 0; at < one.absent.size() && at < kMostNames; ++at)
    text += "; " + absentText(one.absent[at], one.seq, sinceNs);
  if (one.absent.size() > kMostNames)
    text += fmt::format("; and {} more have not", one.absent.size() - kMostNames);
  if (one.unknown > 0)
    text += fmt::format("; {} other members of the group are unknown", one.unknown);
  return text;
}

// "MPI_Recv from 127.0.0.1:4", "all-reduce 17", "pthread_mutex_lock for thread 12".
std::string callText(const OpenCall& call) {
  std::string text = call.kind == "collective" && !call.op.empty() ? numbered(call.op, call.seq)
                     : call.name == call.kind || call.name.empty()
                         ? call.kind
                         : fmt::format("{} {}", call.kind, call.name);
  const char* const way = call.kind == "send" ? "to" : "from";
  const bool isMessage = call.kind == "send" || call.kind == "receive";
  if (isMessage && call.peer)
    text += fmt::format(" {} rank {} of group {}", way, *call.peer, call.group);
  else if (!call.remote.empty())
    text += fmt::format(" {} {}", way, call.remote);
  if (isMessage && call.tag && *call.tag >= 0)
    text += fmt::format(" (tag {})", *call.tag);
  if (call.waitsForTid)
    text += fmt::format(" for thread {}", *call.waitsForTid);
  return text;
}

// The open calls of the most informative thread, innermost first.
std::string openText(const standstill::RankState& rank, std::int64_t untilNs) {
  std::vector<std::string> calls;
  for (auto call = rank.open.begin();
       call != rank.open.end() && call->threadId == rank.open.front().threadId;
       ++call)
    calls.push_back(
        fmt::format("{} for {}", callText(*call), humanDuration(untilNs - call->sinceNs)));
  std::reverse(calls.begin(), calls.end());
  return calls.empty() ? "in no recorded call" : fmt::format("in {}", fmt::join(calls, ", in "));
}

std::string rankText(const standstill::RankState& rank,
                     std::int64_t untilNs,
                     std::int64_t originNs) {
  std::string text = fmt::format("{}: {}", rank.name, openText(rank, untilNs));
  if (rank.last)
    text += fmt::format("; last collective {}, until +{}",
                        numbered(rank.last->op, rank.last->seq),
                        humanDuration(rank.last->endNs - originNs));
  return text;
}

std::string deadlockText(const standstill::Deadlock& deadlock) {
  std::vector<std::string> waits;
  for (const OpenCall& call : deadlock.waits)
    waits.push_back(fmt::format("thread {} waits in {} for what thread {} held then",
                                call.tid,
                                call.name,
                                call.waitsForTid.value_or(0)));
  return fmt::format("deadlock: {}", fmt::join(waits, ", "));
}

std::string helperText(const standstill::LostHelper& helper, std::int64_t originNs) {
  const std::string how = helper.exitSignal   ? fmt::format("by signal {}", *helper.exitSignal)
                          : helper.exitStatus ? fmt::format("with {}", *helper.exitStatus)
                                              : "without an exit status";
  return fmt::format("{}, started by {}, ended {} at +{}",
                     helper.name,
                     helper.owner,
                     how,
                     humanDuration(helper.endNs - originNs));
}

// The way the standstill ended.
std::string endText(const Standstill& found) {
  if (found.isRunning)
    return "and it still runs";
  for (const standstill::RankState& rank : found.ranks)
    if (rank.exitSignal)
      return fmt::format("until signal {} ended {}", *rank.exitSignal, rank.name);
  return "until it ended";
}

json callJson(const OpenCall& call) {
  const auto text = [](const std::string& value) { return value.empty() ? json() : json(value); };
  return {{"kind", call.kind},
          {"category", call.category},
          {"name", call.name},
          {"tid", call.threadId == 0 ? json() : json(call.tid)},
          {"since_ns", call.sinceNs},
          {"communicator", text(call.group)},
          {"op", text(call.op)},
          {"seq", orNull(call.seq)},
          {"bytes", orNull(call.bytes)},
          {"peer", orNull(call.peer)},
          {"tag", orNull(call.tag)},
          {"remote", text(call.remote)},
          {"waits_for_tid", orNull(call.waitsForTid)}};
}

json lastJson(const std::optional<standstill::LastCollective>& last) {
  if (!last)
    return nullptr;
  return {{"communicator", last->group},
          {"op", last->op},
          {"seq", orNull(last->seq)},
          {"end_ns", last->endNs}};
}

json rankJson(const standstill::RankState& rank) {
  json open = json::array();
  for (const OpenCall& call : rank.open)
    open.push_back(callJson(call));
  return {{"rank", orNull(rank.rank)},
          {"process", rank.name},
          {"state", rank.state},
          {"exit_signal", orNull(rank.exitSignal)},
          {"progress_ns", rank.progressNs},
          {"last_collective", lastJson(rank.last)},
          {"open", std::move(open)}};
}

json rendezvousJson(const Rendezvous& one) {
  json entered = json::array();
  for (const Rendezvous::Member& member : one.entered)
    entered.push_back({{"rank", orNull(member.rank)},
                       {"process", member.name},
                       {"since_ns", orNull(member.sinceNs)}});
  json absent = json::array();
  for (const Rendezvous::Member& member : one.absent)
    absent.push_back({{"rank", orNull(member.rank)},
                      {"process", member.name},
                      {"last_collective", lastJson(member.last)},
                      {"recorded", member.isHere},
                      {"other_op", member.otherOp.empty() ? json() : json(member.otherOp)},
                      {"known_until_ns", orNull(member.knownUntilNs)}});
  return {{"communicator", one.group},
          {"op", one.op},
          {"seq", orNull(one.seq)},
          {"bytes", orNull(one.bytes)},
          {"entered", std::move(entered)},
          {"absent", std::move(absent)},
          {"unknown", one.unknown}};
}

}  // namespace

Lines standstillLines(const std::optional<Standstill>& standstill,
                      std::int64_t originNs,
                      bool full) {
  if (!standstill)
    return {};
  Lines lines;
  appendWrapped(lines,
                fmt::format("NO PROGRESS for {} of {}, from +{} on, {}.",
                            humanDuration(standstill->untilNs - standstill->sinceNs),
                            humanDuration(standstill->windowNs),
                            humanDuration(standstill->sinceNs - originNs),
                            endText(*standstill)),
                0);
  const auto addAll = [&](const auto& rows, std::size_t most, auto text) {
    for (std::size_t at = 0; at < rows.size() && (full || at < most); ++at)
      appendWrapped(lines, text(rows[at]), 2);
    if (!full && rows.size() > most)
      appendLines(lines, fmt::format("  … {} more: --full", rows.size() - most));
  };
  addAll(standstill->rendezvous, kMostRendezvous, [&](const Rendezvous& one) {
    return rendezvousText(one, standstill->untilNs);
  });
  addAll(standstill->deadlocks, kMostRendezvous, deadlockText);
  addAll(standstill->lostHelpers, kMostRendezvous, [&](const standstill::LostHelper& helper) {
    return helperText(helper, originNs);
  });
  addAll(standstill->ranks, kMostRanks, [&](const standstill::RankState& rank) {
    return rankText(rank, standstill->untilNs, originNs);
  });
  return lines;
}

json standstillJson(const std::optional<Standstill>& standstill) {
  if (!standstill)
    return nullptr;
  json document = {{"since_ns", standstill->sinceNs},
                   {"ns", standstill->untilNs - standstill->sinceNs},
                   {"window_ns", standstill->windowNs},
                   {"running", standstill->isRunning},
                   {"ranks", json::array()},
                   {"collectives", json::array()},
                   {"deadlocks", json::array()},
                   {"lost_processes", json::array()}};
  for (const standstill::RankState& rank : standstill->ranks)
    document["ranks"].push_back(rankJson(rank));
  for (const Rendezvous& one : standstill->rendezvous)
    document["collectives"].push_back(rendezvousJson(one));
  for (const standstill::Deadlock& deadlock : standstill->deadlocks) {
    json waits = json::array();
    for (const OpenCall& call : deadlock.waits)
      waits.push_back(callJson(call));
    document["deadlocks"].push_back(std::move(waits));
  }
  for (const standstill::LostHelper& helper : standstill->lostHelpers)
    document["lost_processes"].push_back({{"process", helper.name},
                                          {"of", helper.owner},
                                          {"exit_status", orNull(helper.exitStatus)},
                                          {"exit_signal", orNull(helper.exitSignal)},
                                          {"end_ns", helper.endNs}});
  return document;
}

}  // namespace sonde::cli
