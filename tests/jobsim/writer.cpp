#include "tests/jobsim/writer.h"

#include "tests/jobsim/collective_words.h"
#include "tests/jobsim/write_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

namespace sonde::jobsim {

Ns Writer::shown(int rank, Ns trueNs) const {
  return kTraceStartNs + shownBy(machineOf(rank), trueNs);
}

model::SliceId Writer::slice(const At& at,
                             model::SliceKind kind,
                             std::string_view category,
                             std::string_view name,
                             Ns endNs) {
  model::Slice row;
  row.threadId = threads_[static_cast<std::size_t>(at.step.thread)];
  row.kind = kind;
  row.category = category;
  row.nameId = trace_.name(name);
  row.startNs = at.begin;
  row.durNs = endNs - at.begin;
  row.depth = static_cast<std::int64_t>(open_.size());
  if (!open_.empty()) {
    row.parentId = row.scopeId = open_.back().first;
    row.scopeHow = model::ScopeHow::Own;
  }
  if (const auto correlation = correlations_.find(at.index); correlation != correlations_.end())
    row.correlationId = correlation->second;
  return slices_[at.index] = trace_.add(row);
}

void Writer::addHosts() {
  for (const Machine& machine : job_.machines) {
    model::Host host{.name = machine.name, .bootId = "boot-" + machine.name};
    host.cpuCount = machine.cores;
    hosts_.push_back(trace_.add(host));
  }
}

void Writer::addRank(int rank) {
  const Rank& of = job_.ranks[static_cast<std::size_t>(rank)];
  Place& place = places_[static_cast<std::size_t>(rank)];
  place.host = hosts_[static_cast<std::size_t>(of.machine)];
  model::Process process{.hostId = place.host, .pid = 100 + rank, .rank = rank};
  process.localRank = rank;
  process.worldSize = job_.isOneJob ? static_cast<std::int64_t>(job_.ranks.size()) : 1;
  process.command = "python3 train.py";
  process.startNs = shown(rank, of.startNs);
  process.endNs = shown(rank, history_.endNs);
  process.exitStatus = 0;
  process.state = model::ProcessState::Exited;
  place.process = trace_.add(process);
  if (of.streams > 0) {
    model::Device device{.hostId = place.host, .kind = "gpu", .ordinal = rank};
    if (!job_.deviceName.empty())
      device.name = job_.deviceName;
    place.device = trace_.add(device);
  }
  for (int stream = 0; stream < of.streams; ++stream)
    place.streams.push_back(trace_.add(
        model::Stream{.processId = place.process, .deviceId = place.device, .number = stream + 7}));
  for (std::size_t group = 0; group < job_.groups.size(); ++group) {
    const Group& members = job_.groups[group];
    const auto found = std::find(members.ranks.begin(), members.ranks.end(), rank);
    if (found == members.ranks.end())
      continue;
    const auto id =
        trace_.add(model::Communicator{.processId = place.process,
                                       .jobKey = members.name,
                                       .size = static_cast<std::int64_t>(members.ranks.size()),
                                       .position = found - members.ranks.begin(),
                                       .backend = of.streams > 0 ? "nccl" : "gloo"});
    place.groups[static_cast<int>(group)] = id;
    for (std::size_t position = 0; position < members.ranks.size(); ++position)
      trace_.add(model::CommunicatorMember{
          id, static_cast<std::int64_t>(position), members.ranks[position], {}});
  }
}

void Writer::openScope(const At& at, const Begin& begin, Ns endNs) {
  const bool isIteration = begin.scope == Scope::Iteration;
  const auto id = slice(at,
                        isIteration                      ? model::SliceKind::Iteration
                        : begin.scope == Scope::Load     ? model::SliceKind::DataLoad
                        : begin.scope == Scope::Backward ? model::SliceKind::Backward
                        : begin.scope == Scope::Operator ? model::SliceKind::Operator
                                                         : model::SliceKind::Operation,
                        "annotation",
                        begin.name,
                        endNs);
  open_.emplace_back(id, endNs);
  for (const auto& [key, value] : {std::pair("shapes", std::string_view(begin.shapes)),
                                   std::pair("dtypes", std::string_view(begin.types))})
    if (!value.empty())
      trace_.add(model::Arg{model::Owner::Slice, id.value, trace_.name(key), value});
  if (isIteration)
    trace_.add(model::Iteration{.processId = at.place.process,
                                .number = at.place.iterations++,
                                .startNs = at.begin,
                                .durNs = endNs - at.begin,
                                .sliceId = id});
}

void Writer::call(const At& at, std::string_view name) {
  correlations_[at.index] = ++at.place.correlation;
  slice(at, model::SliceKind::Api, "cuda", name, at.end);
}

void Writer::sync(const At& at, model::SyncKind kind, int stream, std::optional<int> event) {
  model::Sync row;
  row.processId = at.place.process;
  row.streamId = at.place.streams[static_cast<std::size_t>(stream)];
  row.kind = kind;
  row.startNs = at.begin;
  row.durNs = at.end - at.begin;
  row.correlationId = at.place.correlation;
  if (event)
    row.eventId = *event + 1;
  if (event && kind == model::SyncKind::Wait)
    row.waitsForId = at.place.events[*event];
  const auto id = trace_.add(row);
  if (kind == model::SyncKind::Record)
    at.place.events[*event] = id;
}

void Writer::meet(const At& at, const Meet& op) {
  const CollectiveWords words = wordsOf(op.op);
  model::Collective row;
  row.processId = at.place.process;
  row.communicatorId = at.place.groups.at(op.group);
  row.seq = at.place.seqs[op.group]++;
  row.op = words.op;
  row.dtype = model::DataType::Float32;
  row.bytes = row.sendBytes = row.recvBytes = op.bytes;
  row.sliceId = slice(at, model::SliceKind::Collective, "gloo", words.call, at.end);
  row.startNs = at.begin;
  row.durNs = at.end - at.begin;
  trace_.add(row);
}

void Writer::transfer(
    const At& at, model::Direction direction, int peer, int tag, std::int64_t bytes) {
  const int rank = rankOf(at.step.thread);
  const bool isReceived = direction == model::Direction::Receive;
  auto& channel = at.place.channels[peer];
  if (!channel)
    channel = trace_.add(model::Channel{.processId = at.place.process,
                                        .kind = model::ChannelKind::Mpi,
                                        .local = fmt::format("world/{}/{}", rank, peer),
                                        .remote = fmt::format("world/{}/{}", peer, rank)});
  model::Transfer row;
  row.channelId = channel;
  row.threadId = threads_[static_cast<std::size_t>(at.step.thread)];
  row.direction = direction;
  row.offset =
      isReceived ? messages_[{peer, rank, tag, true}]++ : messages_[{rank, peer, tag, false}]++;
  row.bytes = bytes;
  row.tag = tag;
  row.sliceId =
      slice(at, model::SliceKind::Api, "mpi", isReceived ? "MPI_Recv" : "MPI_Send", at.end);
  row.startNs = at.begin;
  row.durNs = at.end - at.begin;
  trace_.add(row);
}

// A wait for another thread of the rank.
void Writer::handOff(const At& at) {
  if (at.begin == at.end)
    return;
  const Step& cause = history_.steps[at.step.cause];
  model::Handoff row;
  row.sliceId = slice(at, model::SliceKind::Wait, "sync", "pthread_cond_wait", at.end);
  row.object = 4096;
  row.kind = model::SyncObject::Condition;
  row.wakerThreadId = threads_[static_cast<std::size_t>(cause.thread)];
  row.wakerNs = at.ready;
  row.wakeeThreadId = threads_[static_cast<std::size_t>(at.step.thread)];
  row.blockNs = at.begin;
  row.wakeNs = at.end;
  row.certain = true;
  trace_.add(row);
}

void Writer::writeStep(const At& at) {
  const Op& op = *at.step.op;
  if (const auto* one = std::get_if<Compute>(&op)) {
    slice(at, model::SliceKind::Operator, "torch", one->name, at.end);
  } else if (std::holds_alternative<Launch>(op)) {
    call(at, "cudaLaunchKernel");
  } else if (std::holds_alternative<LaunchCollective>(op)) {
    call(at, "cudaLaunchKernelExC");
  } else if (const auto* record = std::get_if<RecordEvent>(&op)) {
    call(at, "cudaEventRecord");
    sync(at, model::SyncKind::Record, record->stream, record->event);
  } else if (const auto* wait = std::get_if<WaitEvent>(&op)) {
    call(at, "cudaStreamWaitEvent");
    sync(at, model::SyncKind::Wait, wait->stream, wait->event);
  } else if (const auto* all = std::get_if<Synchronise>(&op)) {
    call(at, "cudaStreamSynchronize");
    sync(at, model::SyncKind::Stream, all->stream, {});
  } else if (const auto* together = std::get_if<Meet>(&op)) {
    meet(at, *together);
  } else if (const auto* sent = std::get_if<Send>(&op)) {
    transfer(at, model::Direction::Send, sent->peer, sent->tag, sent->bytes);
  } else if (const auto* received = std::get_if<Receive>(&op)) {
    const auto& message = std::get<Send>(*history_.steps[at.step.cause].op);
    transfer(at, model::Direction::Receive, received->peer, received->tag, message.bytes);
  } else if (std::holds_alternative<Put>(op) || std::holds_alternative<Take>(op)) {
    handOff(at);
  } else if (std::holds_alternative<Allocate>(op) && !open_.empty()) {
    scopes_[at.index] = open_.back().first;
  }
}

void Writer::addThread(int thread) {
  const int rank = rankOf(thread);
  Place& place = places_[static_cast<std::size_t>(rank)];
  const bool isMain = !std::exchange(place.hasMain, true);
  threads_[static_cast<std::size_t>(thread)] =
      trace_.add(model::Thread{.processId = place.process,
                               .tid = 100 + rank + (isMain ? 0 : 1000 * (thread + 1)),
                               .name = job_.threads[static_cast<std::size_t>(thread)].name});
}

// `steps`: the thread's, in the order of its program.
void Writer::writeThread(int rank, const std::vector<std::size_t>& steps) {
  std::vector<std::size_t> begins;
  std::map<std::size_t, Ns> ends;  // of scopes, by the step that began them
  for (const std::size_t at : steps) {
    if (std::holds_alternative<Begin>(*history_.steps[at].op)) {
      begins.push_back(at);
    } else if (std::holds_alternative<End>(*history_.steps[at].op)) {
      ends[begins.back()] = shown(rank, history_.steps[at].end);
      begins.pop_back();
    }
  }
  open_.clear();
  for (const std::size_t index : steps) {
    const Step& step = history_.steps[index];
    const At at{step,
                index,
                places_[static_cast<std::size_t>(rank)],
                shown(rank, step.begin),
                shown(rank, step.ready),
                shown(rank, step.end)};
    if (const auto* begin = std::get_if<Begin>(step.op))
      openScope(at, *begin, ends.contains(index) ? ends[index] : shown(rank, history_.endNs));
    else if (std::holds_alternative<End>(*step.op))
      open_.pop_back();
    else
      writeStep(at);
  }
}

void Writer::write() {
  trace_.meta("job", "jobsim");
  trace_.meta("epoch_ns", "0");
  places_.resize(job_.ranks.size());
  threads_.resize(job_.threads.size());
  slices_.resize(history_.steps.size());
  addHosts();
  for (int rank = 0; rank < static_cast<int>(job_.ranks.size()); ++rank)
    if (isWritten(rank))
      addRank(rank);
  std::vector<std::vector<std::size_t>> steps(job_.threads.size());
  for (std::size_t at = 0; at < history_.steps.size(); ++at)
    steps[static_cast<std::size_t>(history_.steps[at].thread)].push_back(at);
  for (int thread = 0; thread < static_cast<int>(job_.threads.size()); ++thread)
    if (isWritten(rankOf(thread)))
      addThread(thread);
  for (int thread = 0; thread < static_cast<int>(job_.threads.size()); ++thread)
    if (isWritten(rankOf(thread)))
      writeThread(rankOf(thread), steps[static_cast<std::size_t>(thread)]);
  writeWorks();
  writeBlocks();
  trace_.finish();
}

}  // namespace sonde::jobsim
