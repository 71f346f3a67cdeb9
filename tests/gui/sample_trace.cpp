#include "tests/gui/sample_trace.h"

#include <array>
#include <string>
#include <utility>

namespace sonde::gui::testing {

using test::kMs;

SampleTrace::SampleTrace(const std::filesystem::path& path) : trace_(path.string()) {
  host_ = addHost("node-a");
}

model::HostId SampleTrace::addHost(std::string_view name) {
  return trace_.add(model::Host{.name = name, .bootId = name});
}

model::ProcessId SampleTrace::addProcess(std::int64_t pid,
                                         std::optional<std::int64_t> rank,
                                         std::string_view command,
                                         const Life& life) {
  return trace_.add(model::Process{.hostId = host_,
                                   .pid = pid,
                                   .rank = rank,
                                   .command = command,
                                   .startNs = life.startNs,
                                   .endNs = life.endNs,
                                   .exitStatus = life.exitStatus,
                                   .state = model::ProcessState::Exited});
}

model::ThreadId SampleTrace::addThread(model::ProcessId process,
                                       std::int64_t tid,
                                       std::string_view name) {
  return trace_.add(model::Thread{.processId = process, .tid = tid, .name = name});
}

model::SliceId SampleTrace::addSlice(const SliceSpec& spec) {
  return trace_.add(
      model::Slice{.threadId = spec.thread,
                   .kind = spec.kind,
                   .category = spec.category,
                   .nameId = trace_.name(spec.name),
                   .startNs = spec.startNs,
                   .durNs = spec.durNs,
                   .parentId = spec.parent,
                   .depth = spec.depth,
                   .lane = spec.lane,
                   .scopeId = spec.scope,
                   .scopeHow = spec.scope ? model::ScopeHow::Own : model::ScopeHow::None,
                   .correlationId = spec.correlation});
}

model::CounterId SampleTrace::addCounter(const CounterSpec& spec) {
  return trace_.add(model::Counter{.hostId = host_,
                                   .processId = spec.process,
                                   .deviceId = spec.device,
                                   .nameId = trace_.name(spec.name),
                                   .unit = spec.unit,
                                   .kind = spec.kind});
}

void SampleTrace::addSample(model::CounterId counter, std::int64_t ns, double value) {
  trace_.add(model::Sample{counter, ns, value});
}

void SampleTrace::addIteration(model::ProcessId process,
                               std::int64_t number,
                               std::int64_t startNs,
                               std::int64_t durNs) {
  trace_.add(
      model::Iteration{.processId = process, .number = number, .startNs = startNs, .durNs = durNs});
}

model::ChannelId SampleTrace::addChannel(model::ProcessId process,
                                         std::string_view local,
                                         std::string_view remote,
                                         model::ChannelId peer) {
  const bool pipe = local.starts_with("pipe");
  return trace_.add(
      model::Channel{.processId = process,
                     .kind = pipe ? model::ChannelKind::Pipe : model::ChannelKind::Tcp,
                     .local = local,
                     .remote = remote,
                     .peerChannelId = peer});
}

model::TransferId SampleTrace::addTransfer(model::ChannelId channel,
                                           model::Direction direction,
                                           std::int64_t startNs,
                                           std::int64_t durNs,
                                           std::int64_t bytes) {
  return trace_.add(model::Transfer{.channelId = channel,
                                    .direction = direction,
                                    .offset = std::exchange(offset_, offset_ + bytes),
                                    .bytes = bytes,
                                    .startNs = startNs,
                                    .durNs = durNs});
}

model::DeviceId SampleTrace::addDevice(std::int64_t ordinal, std::string_view name) {
  return trace_.add(
      model::Device{.hostId = host_, .kind = "gpu", .ordinal = ordinal, .name = name});
}

model::StreamId SampleTrace::addStream(model::ProcessId process,
                                       model::DeviceId device,
                                       std::int64_t number) {
  return trace_.add(model::Stream{.processId = process, .deviceId = device, .number = number});
}

namespace {

model::DeviceWork workOf(const SampleTrace::WorkSpec& spec, model::StringId name) {
  return {.streamId = spec.stream,
          .nameId = name,
          .startNs = spec.startNs,
          .durNs = spec.durNs,
          .correlationId = spec.correlation,
          .launchSliceId = spec.launch,
          .scopeId = spec.scope};
}

}  // namespace

model::KernelId SampleTrace::addKernel(const WorkSpec& spec) {
  return trace_.add(model::Kernel{.work = workOf(spec, trace_.name(spec.name)),
                                  .grid = {80, 2, 1},
                                  .block = {256, 1, 1},
                                  .registers = 32,
                                  .staticSharedBytes = 2048});
}

model::CopyId SampleTrace::addCopy(const WorkSpec& spec, model::CopyKind kind, std::int64_t bytes) {
  model::DeviceWork work = workOf(spec, trace_.name(spec.name));
  work.bytes = bytes;
  return trace_.add(model::Copy{.work = work, .kind = kind, .pinned = true});
}

model::SyncId SampleTrace::addSync(const WorkSpec& spec, model::SyncKind kind) {
  return trace_.add(model::Sync{.streamId = spec.stream,
                                .kind = kind,
                                .startNs = spec.startNs,
                                .durNs = spec.durNs,
                                .correlationId = spec.correlation});
}

namespace {

// One rank of the training run; `shift` delays all its work relative to rank 0.
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
  test::must(trace.writer().add(model::Meta{"origin_ns", "1000000000"}));
  Rank zero(trace, 0, 0);
  Rank one(trace, 1, kMs / 3);
  for (int iteration = 0; iteration < iterations; ++iteration) {
    zero.iterate(iteration);
    one.iterate(iteration);
  }
  trace.finish();
}

}  // namespace sonde::gui::testing
