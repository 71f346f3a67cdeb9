#include "tests/gui/sample_trace.h"

#include "analysis/store/finaliser.h"
#include "analysis/store/trace_file.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

namespace sonde::gui::testing {
namespace {

constexpr std::int64_t kMs = 1'000'000;

template <typename T>
T must(Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "sample trace: %s\n", result.error().message.c_str());
    std::abort();
  }
  return *std::move(result);
}

void must(Result<void> result) {
  if (!result) {
    std::fprintf(stderr, "sample trace: %s\n", result.error().message.c_str());
    std::abort();
  }
}

}  // namespace

SampleTrace::SampleTrace(const std::filesystem::path& path)
    : writer_(must(store::TraceWriter::open(must(store::createTrace(path))))) {
  must(writer_.begin());
  host_ = addHost("node-a");
}

model::HostId SampleTrace::addHost(std::string_view name) {
  model::Host host;
  host.name = name;
  host.bootId = name;
  return must(writer_.add(host));
}

model::ProcessId SampleTrace::addProcess(std::int64_t pid,
                                         std::optional<std::int64_t> rank,
                                         std::string_view command,
                                         const Life& life) {
  model::Process process;
  process.hostId = host_;
  process.pid = pid;
  process.rank = rank;
  process.command = command;
  process.startNs = life.startNs;
  process.endNs = life.endNs;
  process.exitStatus = life.exitStatus;
  process.state = model::ProcessState::Exited;
  return must(writer_.add(process));
}

model::ThreadId SampleTrace::addThread(model::ProcessId process,
                                       std::int64_t tid,
                                       std::string_view name) {
  model::Thread thread;
  thread.processId = process;
  thread.tid = tid;
  thread.name = name;
  return must(writer_.add(thread));
}

model::SliceId SampleTrace::addSlice(const SliceSpec& spec) {
  model::Slice slice;
  slice.threadId = spec.thread;
  slice.kind = spec.kind;
  slice.category = spec.category;
  slice.nameId = must(writer_.intern(spec.name));
  slice.startNs = spec.startNs;
  slice.durNs = spec.durNs;
  slice.depth = spec.depth;
  slice.lane = spec.lane;
  slice.parentId = spec.parent;
  slice.scopeId = spec.scope;
  slice.scopeHow = spec.scope ? model::ScopeHow::Own : model::ScopeHow::None;
  return must(writer_.add(slice));
}

void SampleTrace::addIteration(model::ProcessId process,
                               std::int64_t number,
                               std::int64_t startNs,
                               std::int64_t durNs) {
  model::Iteration iteration;
  iteration.processId = process;
  iteration.number = number;
  iteration.startNs = startNs;
  iteration.durNs = durNs;
  must(writer_.add(iteration));
}

model::ChannelId SampleTrace::addChannel(model::ProcessId process,
                                         std::string_view local,
                                         std::string_view remote,
                                         model::ChannelId peer) {
  model::Channel channel;
  channel.processId = process;
  channel.kind = local.starts_with("pipe") ? model::ChannelKind::Pipe : model::ChannelKind::Tcp;
  channel.local = local;
  channel.remote = remote;
  channel.peerChannelId = peer;
  return must(writer_.add(channel));
}

model::TransferId SampleTrace::addTransfer(model::ChannelId channel,
                                           model::Direction direction,
                                           std::int64_t startNs,
                                           std::int64_t durNs,
                                           std::int64_t bytes) {
  model::Transfer transfer;
  transfer.channelId = channel;
  transfer.direction = direction;
  transfer.offset = std::exchange(offset_, offset_ + bytes);
  transfer.bytes = bytes;
  transfer.startNs = startNs;
  transfer.durNs = durNs;
  return must(writer_.add(transfer));
}

void SampleTrace::finish() {
  must(store::finalise(must(store::TraceWriter::release(std::move(writer_)))));
}

void SampleTrace::abandon() {
  must(writer_.commit());
}

namespace {

// One rank of the training run; `shift` is how much later than rank 0 it does everything.
class Rank {
 public:
  Rank(SampleTrace& trace, std::int64_t rank, std::int64_t shift)
      : trace_(trace),
        process_(trace.addProcess(
            4200 + rank * 10, rank, "python3 train.py --epochs 3 --batch-size 64")) {
    main_ = trace.addThread(process_, 4200 + rank * 10, "python3");
    autograd_ = trace.addThread(process_, 4203 + rank * 10, "pt_autograd_0");
    gloo_ = trace.addThread(process_, 4205 + rank * 10, "gloo_0");
    for (int worker = 0; worker < 5; ++worker)
      trace.addThread(process_, 4206 + rank * 10 + worker, "omp");
    const std::string self = "127.0.0.1:" + std::to_string(29500 + rank);
    const std::string peer = "127.0.0.1:" + std::to_string(29501 - rank);
    tcp_ = trace.addChannel(process_, self, peer);
    at_ = 1'100 * kMs + shift;
    for (int worker = 0; worker < 2; ++worker) {
      const std::int64_t pid = 4300 + rank * 10 + worker;
      const auto loader =
          trace.addProcess(pid, rank, "python3 train.py --epochs 3 --batch-size 64");
      loaders_.at(static_cast<std::size_t>(worker)) =
          trace.addThread(loader, pid, "pt_data_worker");
      pipes_.at(static_cast<std::size_t>(worker)) = trace.addChannel(
          loader, "pipe:13:" + std::to_string(pid) + ":w", "pipe:13:" + std::to_string(pid) + ":r");
    }
  }

  void iterate(int number) {
    const std::int64_t start = at_;
    const std::int64_t length = 38 * kMs + (number * 7919 % 5) * kMs;
    using Kind = model::SliceKind;
    const auto iteration = open(Kind::Iteration, "iteration", 0, start, length, {});
    open(Kind::DataLoad, "DataLoader.next", 1, start + kMs / 4, 3 * kMs, iteration);
    forward(start + 4 * kMs, iteration);
    const auto backward =
        open(Kind::Backward, "backward", 1, start + 14 * kMs, 15 * kMs, iteration);
    backwardOnAutograd(start + 14 * kMs, backward);
    open(Kind::Optimizer, "SGD.step", 1, start + 30 * kMs, 4 * kMs, iteration);
    open(Kind::Operation, "log metrics", 1, start + 35 * kMs, 1 * kMs, iteration);
    trace_.addIteration(process_, number, start, length);
    const auto worker = static_cast<std::size_t>(number % 2);
    trace_.addSlice(
        {loaders_[worker], Kind::DataLoad, "ImageDataset.__getitem__", start + kMs, 12 * kMs});
    trace_.addTransfer(pipes_[worker], model::Direction::Send, start + 13 * kMs, kMs / 5, 4096);
    at_ += length + kMs / 2;
  }

 private:
  model::SliceId open(model::SliceKind kind,
                      std::string_view name,
                      int depth,
                      std::int64_t start,
                      std::int64_t length,
                      model::SliceId parent) {
    return trace_.addSlice({main_, kind, name, start, length, depth, parent, 0, parent});
  }

  void forward(std::int64_t start, model::SliceId iteration) {
    const auto whole = open(
        model::SliceKind::Forward, "DistributedDataParallel.forward", 1, start, 9 * kMs, iteration);
    std::int64_t at = start + kMs / 5;
    for (const char* name : {"conv1", "layer1", "layer2", "layer3", "fc"}) {
      const auto module = open(model::SliceKind::Module, name, 2, at, 3 * kMs / 2, whole);
      open(model::SliceKind::Operator, "aten::convolution", 3, at + kMs / 10, kMs, module);
      at += 7 * kMs / 4;
    }
  }

  void backwardOnAutograd(std::int64_t start, model::SliceId backward) {
    for (int bucket = 0; bucket < 3; ++bucket) {
      const std::int64_t at = start + kMs + bucket * 4 * kMs;
      trace_.addSlice({autograd_,
                       model::SliceKind::Operator,
                       "ConvolutionBackward0",
                       at,
                       7 * kMs / 2,
                       0,
                       {},
                       0,
                       backward});
      trace_.addSlice(
          {gloo_, model::SliceKind::Collective, "gloo:allreduce", at + 3 * kMs, 3 * kMs});
      for (int chunk = 0; chunk < 4; ++chunk) {
        trace_.addTransfer(
            tcp_, model::Direction::Send, at + 3 * kMs + chunk * kMs / 2, kMs / 4, 256 * 1024);
        trace_.addTransfer(tcp_,
                           model::Direction::Receive,
                           at + 3 * kMs + chunk * kMs / 2 + kMs / 5,
                           kMs / 3,
                           256 * 1024);
      }
    }
  }

  SampleTrace& trace_;
  model::ProcessId process_;
  model::ThreadId main_;
  model::ThreadId autograd_;
  model::ThreadId gloo_;
  model::ChannelId tcp_;
  std::array<model::ThreadId, 2> loaders_;
  std::array<model::ChannelId, 2> pipes_;
  std::int64_t at_;
};

}  // namespace

void writeShims(SampleTrace& trace, int images, std::optional<std::int64_t> rank) {
  for (int image = 0; image < images; ++image) {
    const auto thread = trace.addThread(trace.addProcess(4100, rank, "bash pyenv"), 4100, "bash");
    for (const char* name : {"fork", "exec"}) {
      SampleTrace::SliceSpec mark{
          thread, model::SliceKind::Mark, name, (1'001 + image) * kMs, 0, 0, {}, 0, {}, "process"};
      trace.addSlice(mark);
    }
  }
}

void writeTraining(const std::filesystem::path& path, int iterations) {
  SampleTrace trace(path);
  must(trace.writer().add(model::Meta{"origin_ns", "1000000000"}));
  Rank zero(trace, 0, 0);
  Rank one(trace, 1, kMs / 3);
  for (int iteration = 0; iteration < iterations; ++iteration) {
    zero.iterate(iteration);
    one.iterate(iteration);
  }
  trace.finish();
}

}  // namespace sonde::gui::testing
