#include "analysis/ingest/imported_places.h"

#include <algorithm>

namespace sonde::ingest {
namespace {

void makeKey(std::string& key, const Label& pid, const Label& tid) {
  key.assign(pid.text).push_back('\n');
  key.append(tid.text);
}

bool namesProcess(const Label& pid) noexcept {
  return pid.number && *pid.number > 0;
}

// kineto makes negative ones of what does not fit into 32 bits.
std::int64_t threadNumber(const Label& tid) noexcept {
  return tid.number.value_or(0);
}

}  // namespace

ImportedPlaces::ImportedPlaces(store::TraceWriter& writer, std::string hostName) : writer_(writer) {
  hosts_.push_back({writer_.reserveId<model::HostId>(), std::move(hostName), {}});
  Process main;
  main.row.id = writer_.reserveId<model::ProcessId>();
  processes_.push_back(std::move(main));
}

std::size_t ImportedPlaces::processOf(const Label& pid) {
  if (!namesProcess(pid))
    return 0;
  const auto [found, fresh] = processesByLabel_.try_emplace(std::string(pid.text), 0);
  if (!fresh)
    return found->second;
  if (!processes_.front().label.empty()) {
    found->second = processes_.size();
    processes_.emplace_back().row.id = writer_.reserveId<model::ProcessId>();
  }
  Process& process = processes_[found->second];
  process.row.pid = *pid.number;
  process.label = pid.text;
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
  return {last_, thread.row.id, thread.row.processId};
}

void ImportedPlaces::cover(const Track& track, std::int64_t startNs, std::int64_t endNs) noexcept {
  Thread& thread = threads_[track.index];
  for (Period* const period : {&thread.period, &processes_[thread.process].period}) {
    period->firstNs = std::min(period->firstNs, startNs);
    period->lastNs = std::max(period->lastNs, endNs);
  }
  processes_[thread.process].events += thread.isOfMain ? 0 : 1;
}

void ImportedPlaces::settleMain() {
  const auto most = std::max_element(
      processes_.begin(), processes_.end(), [](const Process& a, const Process& b) {
        return a.events < b.events;
      });
  const auto busiest = static_cast<std::size_t>(most - processes_.begin());
  if (busiest == kMain)
    return;
  wasFirst_ = busiest;
  Process& main = processes_.front();
  std::swap(main.row.pid, most->row.pid);
  std::swap(main.label, most->label);
  std::swap(main.period, most->period);
  std::swap(main.events, most->events);
  for (Thread& thread : threads_) {
    if (!thread.isOfMain)
      thread.process = settled(thread.process);
  }
}

model::DeviceId ImportedPlaces::deviceOf(std::size_t host, std::int64_t ordinal) {
  const auto [found, fresh] = devices_.try_emplace({host, ordinal});
  if (fresh)
    found->second = writer_.reserveId<model::DeviceId>();
  return found->second;
}

model::StreamId ImportedPlaces::stream(std::size_t process,
                                       std::int64_t device,
                                       std::int64_t number,
                                       std::int64_t context) {
  const auto [found, fresh] = streams_.try_emplace({process, device, number, context});
  if (fresh) {
    this->device(process, device);
    found->second = writer_.reserveId<model::StreamId>();
  }
  return found->second;
}

void ImportedPlaces::describeProcess(const Label& pid, const EventArgs& facts) {
  Process& process = processes_[processOf(pid)];
  process.row.pid = facts.pid.value_or(process.row.pid);
  process.row.rank = facts.rank;
  process.row.worldSize = facts.worldSize;
  const auto known = std::find_if(hosts_.begin(), hosts_.end(), [&](const Host& host) {
    return host.name == facts.host && host.number == facts.hostId;
  });
  process.host = static_cast<std::size_t>(known - hosts_.begin());
  if (known == hosts_.end())
    hosts_.push_back({writer_.reserveId<model::HostId>(), std::string(facts.host), facts.hostId});
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

void ImportedPlaces::put(const Period& period,
                         std::int64_t shiftNs,
                         model::OptionalInt& startNs,
                         model::OptionalInt& endNs) {
  if (period.firstNs > period.lastNs)
    return;
  startNs = period.firstNs + shiftNs;
  endNs = period.lastNs + shiftNs;
}

// A host that no process is of has no row.
Result<void> ImportedPlaces::storeHosts() {
  for (std::size_t at = 0; at < hosts_.size(); ++at) {
    const bool used = std::any_of(processes_.begin(),
                                  processes_.end(),
                                  [at](const Process& process) { return process.host == at; });
    model::Host row;
    row.id = hosts_[at].id;
    row.name = hosts_[at].name;
    if (used)
      SONDE_TRY(writer_.add(row));
  }
  return {};
}

const ImportedPlaces::Device& ImportedPlaces::factsOf(std::size_t host, std::int64_t ordinal) {
  const auto own = facts_.find({hosts_[host].name, hosts_[host].number, ordinal});
  return own != facts_.end() ? own->second : facts_[{"", {}, ordinal}];
}

Result<void> ImportedPlaces::storeDevices() {
  for (const auto& [key, id] : devices_) {
    const Device& facts = factsOf(key.first, key.second);
    model::Device row;
    row.id = id;
    row.hostId = hosts_[key.first].id;
    row.kind = facts.kind;
    row.ordinal = key.second;
    if (!facts.name.empty())
      row.name = facts.name;
    row.memoryBytes = facts.memoryBytes;
    if (!facts.uuid.empty())
      row.uuid = facts.uuid;
    SONDE_TRY(writer_.add(row));
  }
  for (const auto& [place, id] : streams_) {
    model::Stream row;
    row.id = id;
    const auto& [process, device, number, context] = place;
    row.processId = processes_[process].row.id;
    row.deviceId = devices_[{processes_[process].host, device}];
    row.number = number;
    SONDE_TRY(writer_.add(row));
  }
  return {};
}

Result<void> ImportedPlaces::finish(std::int64_t shiftNs) {
  SONDE_TRY(storeHosts());
  for (Process& process : processes_) {
    const auto name = processNames_.find(process.label);
    process.row.hostId = hosts_[process.host].id;
    if (name != processNames_.end())
      process.row.command = name->second;
    put(process.period, shiftNs, process.row.startNs, process.row.endNs);
    SONDE_TRY(writer_.add(process.row));
  }
  for (Thread& thread : threads_) {
    const auto name = threadNames_.find(thread.key);
    if (name != threadNames_.end())
      thread.row.name = name->second;
    thread.row.processId = processes_[thread.process].row.id;
    put(thread.period, shiftNs, thread.row.startNs, thread.row.endNs);
    SONDE_TRY(writer_.add(thread.row));
  }
  return storeDevices();
}

}  // namespace sonde::ingest
