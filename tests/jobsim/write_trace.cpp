#include "tests/jobsim/write_trace.h"

#include "tests/jobsim/collective_words.h"
#include "tests/jobsim/writer.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace sonde::jobsim {

void Writer::writeWorks() {
  std::vector<const DeviceWork*> works;
  for (const DeviceWork& work : history_.works)
    if (isWritten(work.rank))
      works.push_back(&work);
  // A rank's in the order of launch, which numbers its collectives.
  std::stable_sort(works.begin(), works.end(), [](const DeviceWork* a, const DeviceWork* b) {
    return std::tie(a->rank, a->launch) < std::tie(b->rank, b->launch);
  });
  for (const DeviceWork* work : works) {
    Place& place = places_[static_cast<std::size_t>(work->rank)];
    const auto* collective = std::get_if<LaunchCollective>(work->op);
    if (collective == nullptr && std::get<Launch>(*work->op).copies != CopyWay::None) {
      writeCopy(*work);
      continue;
    }
    model::Kernel kernel;
    kernel.work.streamId = place.streams[static_cast<std::size_t>(work->stream)];
    kernel.work.nameId = trace_.name(collective != nullptr ? wordsOf(collective->op).kernel
                                                           : std::get<Launch>(*work->op).name);
    kernel.work.startNs = shown(work->rank, work->begin);
    kernel.work.durNs = shown(work->rank, work->end) - kernel.work.startNs;
    kernel.work.correlationId = correlations_[work->launch];
    kernel.work.launchSliceId = slices_[work->launch];
    if (const auto* launch = std::get_if<Launch>(work->op);
        launch != nullptr && launch->blocks > 0) {
      kernel.grid = {launch->blocks, 1, 1};
      kernel.block = {kLaunchThreads, 1, 1};
    }
    const auto id = trace_.add(kernel);
    if (collective == nullptr)
      continue;
    model::Collective row;
    row.processId = place.process;
    row.communicatorId = place.groups.at(collective->group);
    row.seq = place.seqs[collective->group]++;
    row.op = wordsOf(collective->op).op;
    row.dtype = model::DataType::Float32;
    row.bytes = row.sendBytes = row.recvBytes = collective->bytes;
    row.kernelId = id;
    row.startNs = kernel.work.startNs;
    row.durNs = kernel.work.durNs;
    trace_.add(row);
  }
}

void Writer::writeCopy(const DeviceWork& work) {
  const auto& launch = std::get<Launch>(*work.op);
  const bool isToHost = launch.copies == CopyWay::ToHost;
  model::Copy copy;
  copy.work.streamId =
      places_[static_cast<std::size_t>(work.rank)].streams[static_cast<std::size_t>(work.stream)];
  copy.work.nameId =
      trace_.name(isToHost ? "Memcpy DtoH (Device -> Pinned)" : "Memcpy HtoD (Pinned -> Device)");
  copy.work.startNs = shown(work.rank, work.begin);
  copy.work.durNs = shown(work.rank, work.end) - copy.work.startNs;
  copy.work.correlationId = correlations_[work.launch];
  copy.work.launchSliceId = slices_[work.launch];
  copy.work.bytes = launch.bytes;
  copy.kind = isToHost ? model::CopyKind::DeviceToHost : model::CopyKind::HostToDevice;
  copy.pinned = true;
  trace_.add(copy);
}

// Blocks of memory, in the order of allocation.
void Writer::writeBlocks() {
  std::map<std::pair<int, int>, Ns> freed;  // by rank and block
  for (const Step& step : history_.steps)
    if (const auto* free = std::get_if<Free>(step.op))
      freed[{rankOf(step.thread), free->block}] = step.end;
  for (std::size_t at = 0; at < history_.steps.size(); ++at) {
    const Step& step = history_.steps[at];
    const auto* block = std::get_if<Allocate>(step.op);
    const int rank = rankOf(step.thread);
    if (block == nullptr || !isWritten(rank))
      continue;
    model::Allocation row;
    row.processId = places_[static_cast<std::size_t>(rank)].process;
    row.threadId = threads_[static_cast<std::size_t>(step.thread)];
    row.deviceId = places_[static_cast<std::size_t>(rank)].device;  // none: of the host
    row.allocator = model::Allocator::Torch;
    row.address = 4096 * (block->block + 1);
    row.bytes = block->bytes;
    row.allocNs = shown(rank, step.end);
    if (const auto end = freed.find({rank, block->block}); end != freed.end())
      row.freeNs = shown(rank, end->second);
    row.scopeId = scopes_[at];
    trace_.add(row);
  }
}

Ns shownBy(const Machine& machine, Ns trueNs) {
  constexpr Ns kWhole = 1'000'000'000;
  // In two parts: the product of a long time and the drift does not fit.
  return trueNs + machine.offsetNs + trueNs / kWhole * machine.driftPpb +
         trueNs % kWhole * machine.driftPpb / kWhole;
}

void writeTrace(const Job& job,
                const History& history,
                const std::string& path,
                std::optional<int> rank) {
  Writer(job, history, path, rank).write();
}

}  // namespace sonde::jobsim
