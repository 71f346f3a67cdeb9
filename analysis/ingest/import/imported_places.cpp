#include "analysis/ingest/import/imported_places.h"

#include "analysis/ingest/import/process_label.h"

#include <algorithm>
#include <charconv>
#include <set>

namespace sonde::ingest {
namespace {

void makeKey(std::string& key, const Label& pid, const Label& tid) {
  key.assign(pid.text).push_back('\n');
  key.append(tid.text);
}

// kineto turns numbers beyond 32 bits into negative ones.
std::int64_t threadNumber(const Label& tid) noexcept {
  return tid.number.value_or(0);
}

}  // namespace

ImportedPlaces::ImportedPlaces(store::TraceWriter& writer, std::string hostName)
    : writer_(writer), devices_(writer, std::move(hostName)) {
  Process main;
  main.row.id = writer_.reserveId<model::ProcessId>();
  processes_.push_back(std::move(main));
}

std::size_t ImportedPlaces::addProcess(std::size_t group) {
  processes_.emplace_back().row.id = writer_.reserveId<model::ProcessId>();
  processes_.back().group = group;
  return processes_.size() - 1;
}

std::size_t ImportedPlaces::groupOf(const Label& pid) {
  const std::string_view text = groupOfLabel(pid);
  if (text.empty())
    return kMain;
  const auto [found, fresh] = groups_.try_emplace(std::string(text), kMain);
  if (!fresh)
    return found->second;
  const bool isFirst = groupMains_.empty() && processes_.front().label.empty();
  if (!isFirst)
    found->second = addProcess(processes_.size());
  groupTexts_.emplace_back(text);
  groupMains_.push_back(found->second);
  return found->second;
}

std::size_t ImportedPlaces::processOf(const Label& pid) {
  const std::size_t group = groupOf(pid);
  if (!namesProcess(pid))
    return group;
  const auto [found, fresh] = processesByLabel_.try_emplace(std::string(pid.text), group);
  if (!fresh)
    return found->second;
  if (!processes_[group].label.empty())
    found->second = addProcess(group);
  Process& process = processes_[found->second];
  const std::string_view text = pid.text;
  const std::size_t digits = text.find_last_not_of("0123456789") + 1;
  std::from_chars(text.data() + digits, text.data() + text.size(), process.row.pid);
  process.row.pid = pid.number.value_or(process.row.pid);
  process.label = text;
  return found->second;
}

ImportedPlaces::Track ImportedPlaces::track(const Label& pid, const Label& tid) {
  std::string key;
  makeKey(key, pid, tid);
  if (threads_.empty() || key != key_) {
    const auto [found, fresh] = threadsByKey_.try_emplace(key, threads_.size());
    last_ = found->second;
    if (fresh) {
      Thread thread;
      thread.process = processOf(pid);
      thread.isOfMain = !namesProcess(pid);
      thread.key = key;
      thread.row.id = writer_.reserveId<model::ThreadId>();
      thread.row.processId = processes_[thread.process].row.id;
      thread.row.tid = threadNumber(tid);
      if (!tid.number)
        threadNames_.try_emplace(key, tid.text);
      threads_.push_back(std::move(thread));
    }
    key_ = std::move(key);
  }
  const Thread& thread = threads_[last_];
  const Process& group = processes_[processes_[thread.process].group];
  return {last_, thread.row.id, thread.row.processId, group.row.id};
}

void ImportedPlaces::cover(const Track& track, std::int64_t startNs, std::int64_t endNs) noexcept {
  Thread& thread = threads_[track.index];
  for (Period* const period : {&thread.period, &processes_[thread.process].period}) {
    Span& span = (*period)[TimeCensus::spanOf(startNs)];
    span.firstNs = std::min(span.firstNs, startNs);
    span.lastNs = std::max(span.lastNs, endNs);
  }
  processes_[thread.process].events += thread.isOfMain ? 0 : 1;
}

void ImportedPlaces::settleMain() {
  settled_.resize(processes_.size());
  for (std::size_t process = 0; process < processes_.size(); ++process)
    settled_[process] = process;
  std::map<std::size_t, std::size_t> busiest;  // of each group's main process
  for (std::size_t process = 0; process < processes_.size(); ++process) {
    const auto [at, isNew] = busiest.emplace(processes_[process].group, processes_[process].group);
    if (processes_[process].events > processes_[at->second].events)
      at->second = process;
  }
  for (const auto& [main, most] : busiest)
    settleGroup(main, most);
  for (Thread& thread : threads_) {
    if (!thread.isOfMain)
      thread.process = settled(thread.process);
  }
  settleRanks();
}

void ImportedPlaces::settleGroup(std::size_t main, std::size_t busiest) {
  if (busiest == main)
    return;
  Process& first = processes_[main];
  Process& most = processes_[busiest];
  std::swap(first.row.pid, most.row.pid);
  std::swap(first.label, most.label);
  std::swap(first.period, most.period);
  std::swap(first.events, most.events);
  std::swap(settled_[main], settled_[busiest]);
}

// A merged file names the rank of one of its parts; here each part gets its own.
void ImportedPlaces::settleRanks() {
  if (groupMains_.size() < 2)
    return;
  const model::OptionalInt worldSize = processes_.front().row.worldSize;
  processes_.front().row.rank = {};
  const std::vector<std::int64_t> ranks = ranksOfGroups(groupTexts_);
  for (std::size_t group = 0; group < groupMains_.size(); ++group) {
    Process& main = processes_[groupMains_[group]];
    main.row.worldSize = worldSize;
    if (!ranks.empty())
      main.row.rank = ranks[group];
  }
}

void ImportedPlaces::describeProcess(const Label& pid, const EventArgs& facts) {
  Process& process = processes_[processOf(pid)];
  process.row.pid = facts.pid.value_or(process.row.pid);
  process.row.rank = facts.rank;
  process.row.worldSize = facts.worldSize;
  process.host = devices_.host(facts.host, facts.hostId);
}

void ImportedPlaces::nameProcess(const Label& pid, std::string_view name) {
  processNames_[std::string(pid.text)] = name;
}

void ImportedPlaces::nameThread(const Label& pid, const Label& tid, std::string_view name) {
  std::string key;
  makeKey(key, pid, tid);
  threadNames_[std::move(key)] = name;
}

void ImportedPlaces::setRank(model::OptionalInt rank, model::OptionalInt worldSize) {
  processes_.front().row.rank = rank;
  processes_.front().row.worldSize = worldSize;
}

void ImportedPlaces::setRankIfNone(model::OptionalInt rank) noexcept {
  const bool isNone = std::all_of(processes_.begin(), processes_.end(), [](const Process& process) {
    return !process.row.rank;
  });
  if (isNone && groupMains_.size() < 2)
    processes_.front().row.rank = rank;
}

void ImportedPlaces::put(const Period& period,
                         std::int64_t shiftNs,
                         const TimeWindow& window,
                         model::OptionalInt& startNs,
                         model::OptionalInt& endNs) {
  for (const auto& [key, span] : period) {
    if (!window.holds(span.firstNs, span.firstNs))
      continue;
    startNs = startNs ? startNs : model::OptionalInt(span.firstNs + shiftNs);
    endNs = std::max(endNs.value_or(span.lastNs + shiftNs), span.lastNs + shiftNs);
  }
}

Result<void> ImportedPlaces::finish(std::int64_t shiftNs, const TimeWindow& window) {
  std::set<std::size_t> hosts;
  for (const Process& process : processes_)
    hosts.insert(process.host);
  SONDE_TRY(devices_.storeHosts(hosts));
  for (Process& process : processes_) {
    const auto name = processNames_.find(process.label);
    process.row.hostId = devices_.idOf(process.host);
    const Label label{process.label, {}};
    if (name != processNames_.end())
      process.row.command = name->second;
    else if (groups_.find(std::string(groupOfLabel(label))) != groups_.end())
      process.row.command = process.label;
    put(process.period, shiftNs, window, process.row.startNs, process.row.endNs);
    SONDE_TRY(writer_.add(process.row));
  }
  for (Thread& thread : threads_) {
    const auto name = threadNames_.find(thread.key);
    if (name != threadNames_.end())
      thread.row.name = name->second;
    thread.row.processId = processes_[thread.process].row.id;
    put(thread.period, shiftNs, window, thread.row.startNs, thread.row.endNs);
    SONDE_TRY(writer_.add(thread.row));
  }
  return devices_.finish();
}

}  // namespace sonde::ingest
