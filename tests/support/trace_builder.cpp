#include "tests/support/trace_builder.h"

#include "analysis/finalise/finaliser.h"
#include "analysis/model/words.h"
#include "analysis/store/trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

namespace sonde::test {
namespace {

using model::SliceKind;

constexpr std::int64_t kBucketBytes = 1000;

class TrainingWriter {
 public:
  TrainingWriter(const std::string& path, const TrainingRun& run) : trace_(path), run_(run) {}

  void write();

 private:
  void writePlaces();
  void writeChannels();
  void writeIteration(int number, std::int64_t begin, std::int64_t length);
  void writeAllreduce(std::int64_t begin, std::int64_t end, model::SliceId scope);

  TraceBuilder trace_;
  const TrainingRun& run_;
  model::ProcessId process_;
  model::ThreadId main_;
  model::ThreadId gloo_;
  model::CommunicatorId communicator_;
  std::vector<model::ChannelId> channels_;
  std::int64_t seq_ = 0;
  std::int64_t probes_ = 0;  // of iterations that are not masked
};

void TrainingWriter::writePlaces() {
  const std::int64_t end = run_.beginNs + run_.iterations * 100 * kMs +
                           static_cast<std::int64_t>(run_.slow.size()) * run_.extraNs;
  const auto host = trace_.add(model::Host{.name = run_.hostName, .bootId = run_.bootId});
  model::Process process;
  process.hostId = host;
  process.pid = 100 + run_.rank;
  process.rank = process.localRank = run_.rank;
  process.worldSize = run_.worldSize;
  process.command = "python3 train.py";
  process.startNs = run_.beginNs - 50 * kMs;
  process.endNs = end + 50 * kMs;
  process.exitStatus = 0;
  process.state = model::ProcessState::Exited;
  process_ = trace_.add(process);
  main_ = trace_.add(model::Thread{.processId = process_, .tid = process.pid, .name = "python3"});
  gloo_ =
      trace_.add(model::Thread{.processId = process_, .tid = process.pid + 1000, .name = "gloo"});
  trace_.add(
      model::ClockSync{host, process_, 1, *process.startNs - run_.epochNs, *process.startNs});
  trace_.meta("job", run_.job);
  trace_.meta("epoch_ns", std::to_string(run_.epochNs));
  if (!run_.sources.empty())
    trace_.meta("sources", run_.sources);
  for (const std::string_view probe : model::kProbeWords)
    if (("," + run_.sources + ",").find("," + std::string(probe) + ",") != std::string::npos)
      probes_ |= model::probeBit(probe);
  if (run_.sources.empty() && !run_.masked.empty())
    probes_ = 7;
  if (run_.scopeCostNs > 0)
    trace_.add(model::Overhead{.probe = "torch",
                               .api = "scope",
                               .meanNs = run_.scopeCostNs,
                               .errorNs = run_.scopeErrorNs,
                               .method = run_.costMethod,
                               .beforeNs = 0,
                               .insideNs = run_.scopeCostNs});
}

void TrainingWriter::writeChannels() {
  communicator_ = trace_.add(model::Communicator{.processId = process_,
                                                 .jobKey = "group-0",
                                                 .size = run_.worldSize,
                                                 .position = run_.rank,
                                                 .backend = "gloo"});
  for (std::int64_t rank = 0; rank < run_.worldSize; ++rank) {
    trace_.add(model::CommunicatorMember{communicator_, rank, rank, {}});
    if (rank == run_.rank)
      continue;
    const auto address = [&](std::int64_t own, std::int64_t other) {
      return fmt::format("10.0.0.{}:{}", own + 1, 5000 + own * 100 + other);
    };
    channels_.push_back(trace_.add(model::Channel{.processId = process_,
                                                  .local = address(run_.rank, rank),
                                                  .remote = address(rank, run_.rank),
                                                  .openNs = run_.beginNs - 10 * kMs}));
  }
}

void TrainingWriter::writeAllreduce(std::int64_t begin, std::int64_t end, model::SliceId) {
  model::Collective collective;
  collective.processId = process_;
  collective.communicatorId = communicator_;
  collective.seq = seq_;
  collective.dtype = model::DataType::Float32;
  collective.bytes = collective.sendBytes = collective.recvBytes = kBucketBytes;
  collective.sliceId = trace_.slice(gloo_, SliceKind::Collective, "allreduce", {begin, end});
  collective.startNs = begin;
  collective.durNs = end - begin;
  const auto id = trace_.add(collective);
  for (const model::ChannelId channel : channels_)
    for (const auto direction : {model::Direction::Send, model::Direction::Receive})
      trace_.add(model::Transfer{.channelId = channel,
                                 .threadId = gloo_,
                                 .direction = direction,
                                 .offset = seq_ * kBucketBytes,
                                 .bytes = kBucketBytes,
                                 .startNs = begin + kMs,
                                 .durNs = kMs,
                                 .collectiveId = id});
  ++seq_;
}

void TrainingWriter::writeIteration(int number, std::int64_t begin, std::int64_t length) {
  const std::int64_t end = begin + length;
  const auto step = trace_.slice(main_, SliceKind::Iteration, "iteration", {begin, end});
  const auto part = [&](SliceKind kind, std::string_view name, std::int64_t from, std::int64_t to) {
    return trace_.slice(main_, kind, name, {from, to}, step);
  };
  part(SliceKind::DataLoad, "data_load", begin, begin + 10 * kMs);
  part(SliceKind::Forward, "forward", begin + 10 * kMs, begin + 40 * kMs);
  const auto backward = part(SliceKind::Backward, "backward", begin + 40 * kMs, begin + 80 * kMs);
  part(SliceKind::Optimizer, "SGD.step", end - 8 * kMs, end - 2 * kMs);
  writeAllreduce(begin + 60 * kMs, begin + 70 * kMs, backward);
  writeAllreduce(begin + 72 * kMs, begin + 90 * kMs, backward);
  const bool isMasked =
      std::find(run_.masked.begin(), run_.masked.end(), number) != run_.masked.end();
  trace_.add(model::Iteration{.processId = process_,
                              .number = number,
                              .startNs = begin,
                              .durNs = length,
                              .probeMask = isMasked ? probes_ & ~model::probeBit("torch") : probes_,
                              .sliceId = step});
  if (run_.losses)
    trace_.add(model::Scalar{
        process_, number, trace_.name("loss"), 2 * std::pow(0.97, number), begin + 40 * kMs});
}

void TrainingWriter::write() {
  writePlaces();
  writeChannels();
  std::int64_t begin = run_.beginNs;
  for (int number = 0; number < run_.iterations; ++number) {
    const bool slow = std::find(run_.slow.begin(), run_.slow.end(), number) != run_.slow.end();
    const std::int64_t length = 100 * kMs + (slow ? run_.extraNs : 0);
    writeIteration(number, begin, length);
    begin += length;
  }
  trace_.finish(run_.finalised);
}

}  // namespace

TraceBuilder::TraceBuilder(const std::string& path) {
  writer_ = must(store::TraceWriter::open(must(store::createTrace(path))));
  must(writer_->begin());
}

model::SliceId TraceBuilder::slice(model::ThreadId thread,
                                   SliceKind kind,
                                   std::string_view text,
                                   std::pair<std::int64_t, std::int64_t> time,
                                   model::SliceId parent,
                                   std::string_view category) {
  model::Slice row;
  row.threadId = thread;
  row.kind = kind;
  row.category = category;
  row.nameId = name(text);
  row.startNs = time.first;
  row.durNs = time.second - time.first;
  row.parentId = parent;
  const auto above = std::find_if(
      depths_.rbegin(), depths_.rend(), [&](const auto& each) { return each.first == parent; });
  row.depth = above == depths_.rend() ? 0 : above->second + 1;
  row.scopeId = parent;
  row.scopeHow = parent ? model::ScopeHow::Own : model::ScopeHow::None;
  const model::SliceId id = add(row);
  depths_.emplace_back(id, row.depth);
  return id;
}

void TraceBuilder::handoff(model::ThreadId waker,
                           model::ThreadId wakee,
                           std::pair<std::int64_t, std::int64_t> time) {
  model::Handoff row;
  row.sliceId = slice(wakee, model::SliceKind::Wait, "sem_wait", time);
  row.object = 4096;
  row.kind = model::SyncObject::Semaphore;
  row.wakerThreadId = waker;
  row.wakerNs = time.second - 10;
  row.wakeeThreadId = wakee;
  row.blockNs = time.first;
  row.wakeNs = time.second;
  row.certain = true;
  add(row);
}

void TraceBuilder::finish(bool finalised) {
  auto trace = must(store::TraceWriter::release(*std::move(writer_)));
  writer_.reset();
  if (finalised)
    must(store::finalise(std::move(trace)));
}

void writeTrainingRun(const std::string& path, const TrainingRun& run) {
  TrainingWriter(path, run).write();
}

}  // namespace sonde::test
