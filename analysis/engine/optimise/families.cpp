#include "analysis/engine/optimise/families.h"

#include "analysis/engine/optimise/bucket_changes.h"
#include "analysis/engine/optimise/pipeline_changes.h"
#include "analysis/engine/whatif/compute/accumulation.h"
#include "analysis/engine/whatif/compute/batch_size.h"
#include "analysis/engine/whatif/compute/cuda_graphs.h"
#include "analysis/engine/whatif/compute/fusion.h"
#include "analysis/engine/whatif/compute/host_syncs.h"
#include "analysis/engine/whatif/compute/mixed_precision.h"
#include "analysis/engine/whatif/compute/recompute.h"
#include "analysis/engine/whatif/gradients/compression.h"
#include "analysis/engine/whatif/loader_workers.h"
#include "analysis/engine/whatif/network/network.h"
#include "analysis/engine/whatif/primitives.h"
#include "analysis/engine/whatif/selector.h"
#include "analysis/store/read_rows.h"
#include "base/suggest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

namespace sonde::engine::optimise {
namespace {

using whatif::AskedJob;

// A family of one change, which is its own ideal.
Family single(const char* name, Change change) {
  Family family{name};
  family.ideal = change.ask;
  family.changes.push_back(std::move(change));
  return family;
}

struct HostRow {
  std::int64_t processors = 0;

  SONDE_COLUMNS(processors)
};

constexpr const char* kProcessors =
    "SELECT coalesce(min(cpu_count), 0) AS processors FROM host WHERE cpu_count > 0";

// For each rank of the host with the fewest, if the hosts have as many ranks each; 0: unknown.
Result<std::int64_t> processorsOfRank(const AskedJob& job) {
  std::int64_t processors = 0;
  SONDE_TRY(store::forEach<HostRow>(
      job.trace(), kProcessors, [&](const HostRow& row) { processors = row.processors; }));
  std::set<std::int64_t> hosts;
  std::set<std::int64_t> ranks;
  for (const graph::Lane& lane : job.job().graph.lanes)
    if (lane.rank >= 0) {
      ranks.insert(lane.rank);
      hosts.insert(lane.hostId);
    }
  if (ranks.empty())
    return processors;
  return processors * static_cast<std::int64_t>(hosts.size()) /
         static_cast<std::int64_t>(ranks.size());
}

Result<Family> workerChanges(const AskedJob& job) {
  constexpr std::int64_t kMost = 16;
  SONDE_TRY_ASSIGN(const std::int64_t processors, processorsOfRank(job));
  const std::int64_t most = processors > 0 ? std::clamp(processors, std::int64_t{2}, kMost) : kMost;
  Family family{"workers"};
  for (std::int64_t workers = 1; workers <= most; workers *= 2) {
    Change change;
    change.what =
        fmt::format("load data with {} worker{} for each rank", workers, workers == 1 ? "" : "s");
    change.setting = fmt::format("DataLoader(num_workers={})", workers);
    change.question = fmt::format("--workers {}", workers);
    change.ask = whatif::loaderWorkers(workers);
    family.changes.push_back(std::move(change));
  }
  SONDE_TRY_ASSIGN(whatif::Selector loads, whatif::parseSelector("kind:data_load"));
  family.ideal = whatif::remove(std::move(loads));
  return family;
}

Result<Family> hostSyncChanges(const AskedJob&) {
  return single("no-host-syncs",
                {.what = "wait for devices once in an iteration",
                 .setting = ".item() and print() only once in an iteration; "
                            ".to(device, non_blocking=True) from pinned memory",
                 .question = "--ask no-host-syncs",
                 .ask = whatif::noHostSyncs()});
}

Result<Family> fusionChanges(const AskedJob&) {
  return single("fusion",
                {.what = "fuse pointwise operators that follow each other",
                 .setting = "torch.compile(model)",
                 .question = "--ask fusion,of=pointwise",
                 .ask = whatif::fusion(whatif::Fusion::Pointwise)});
}

Result<Family> optimizerChanges(const AskedJob&) {
  return single("fused-optimizer",
                {.what = "fuse the kernels of an optimizer step",
                 .setting = "torch.optim.…(fused=True)",
                 .question = "--ask fusion,of=optimizer",
                 .ask = whatif::fusion(whatif::Fusion::Optimizer)});
}

Result<Family> graphChanges(const AskedJob&) {
  return single("cuda-graphs",
                {.what = "launch the kernels of an iteration as one graph",
                 .setting = "torch.cuda.make_graphed_callables(model, …)",
                 .question = "--ask cuda-graphs",
                 .ask = whatif::cudaGraphs({})});
}

Result<Family> precisionChanges(const AskedJob&) {
  return single("mixed-precision",
                {.what = "compute with numbers of two bytes",
                 .setting = "torch.autocast(device_type, dtype=torch.bfloat16)",
                 .question = "--ask mixed-precision",
                 .ask = whatif::mixedPrecision({}),
                 .activations = 0.5});
}

Result<Family> compressionChanges(const AskedJob&) {
  Family family{"compression"};
  family.changes.push_back({.what = "reduce gradients as numbers of two bytes",
                            .setting = "model.register_comm_hook(None, fp16_compress_hook)",
                            .question = "--ask compression,codec=fp16",
                            .ask = whatif::compression({})});
  family.ideal = whatif::network({.bandwidthFactor = 1e6, .latencyNs = 0});
  return family;
}

// The ideal of larger batches, whose time is divided by their samples: they cost nothing. That of
// divided ones is their work, which stays.
Result<void> asItIs(whatif::Asking&) {
  return {};
}

constexpr std::int64_t kFactors[] = {2, 4, 8};

Result<Family> accumulationChanges(const AskedJob&) {
  Family family{"accumulation"};
  family.ideal = asItIs;
  for (const std::int64_t factor : kFactors)
    family.changes.push_back(
        {.what = fmt::format("reduce gradients and step only after {} batches", factor),
         .setting = fmt::format("model.no_sync() in {} of {} batches", factor - 1, factor),
         .question = fmt::format("--ask accumulation,x={}", factor),
         .ask = whatif::accumulation(factor),
         .samples = static_cast<double>(factor)});
  return family;
}

Result<Family> batchChanges(const AskedJob&) {
  Family family{"batch"};
  family.ideal = asItIs;
  for (const std::int64_t factor : kFactors) {
    const auto x = static_cast<double>(factor);
    family.changes.push_back({.what = fmt::format("make batches {} times as large", factor),
                              .setting = fmt::format("DataLoader(batch_size={} × now)", factor),
                              .question = fmt::format("--ask batch,x={}", factor),
                              .ask = whatif::batchSize({.factor = x}),
                              .samples = x,
                              .activations = x});
  }
  return family;
}

// The same samples in smaller batches, for jobs that need less memory.
Result<Family> splitChanges(const AskedJob&) {
  Family family{"split-batch"};
  family.ideal = asItIs;
  for (const std::int64_t parts : kFactors) {
    const double part = 1 / static_cast<double>(parts);
    const whatif::Question smaller = whatif::batchSize({.factor = part});
    const whatif::Question more = whatif::accumulation(parts);
    family.changes.push_back(
        {.what = fmt::format("divide each batch into {} and accumulate their gradients", parts),
         .setting = fmt::format(
             "DataLoader(batch_size=now / {0}); model.no_sync() in {1} of {0}", parts, parts - 1),
         .question = fmt::format("--ask batch,x={} --ask accumulation,x={}", part, parts),
         .ask = [smaller, more](whatif::Asking& asking) -> Result<void> {
           SONDE_TRY(smaller(asking));
           return more(asking);
         },
         .activations = part});
  }
  return family;
}

// A layer that is computed again keeps only its input.
Result<Family> recomputeChanges(const AskedJob&) {
  constexpr double kKept = 0.2;  // an assumption
  Family family{"recompute"};
  family.ideal = asItIs;
  for (const double share : {0.5, 1.0})
    family.changes.push_back(
        {.what = fmt::format("compute the activations of {} layers again in the backward pass",
                             share < 1 ? "half of the" : "all"),
         .setting = "torch.utils.checkpoint.checkpoint(layer, …)",
         .question = fmt::format("--ask recompute,share={:g}", share),
         .ask = whatif::recompute({.share = share}),
         .activations = 1 - share * (1 - kKept)});
  return family;
}

}  // namespace

const std::vector<FamilyKind>& familyKinds() {
  static const std::vector<FamilyKind> kinds = {
      {"pipeline", true, pipelineChanges},
      {"split-batch", false, splitChanges},
      {"recompute", false, recomputeChanges},
      {"batch", false, batchChanges},
      {"accumulation", false, accumulationChanges},
      {"workers", true, workerChanges},
      {"no-host-syncs", true, hostSyncChanges},
      {"fusion", true, fusionChanges},
      {"fused-optimizer", true, optimizerChanges},
      {"cuda-graphs", true, graphChanges},
      {"mixed-precision", true, precisionChanges},
      {"bucket-size", true, bucketChanges, allBucketChanges},
      {"compression", true, compressionChanges},
  };
  return kinds;
}

Result<void> checkNames(const std::vector<std::string>& names, const std::vector<Family>& more) {
  std::vector<std::string> known;
  for (const FamilyKind& kind : familyKinds())
    known.emplace_back(kind.name);
  for (const Family& family : more)
    known.push_back(family.name);
  for (const std::string& each : names) {
    if (std::find(known.begin(), known.end(), each) != known.end())
      continue;
    const std::string nearest = nearestWord(each, known);
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("there is no question '{}'{}: use {}",
                             each,
                             nearest.empty() ? "" : fmt::format(", perhaps '{}'", nearest),
                             fmt::join(known, ", "))};
  }
  return {};
}

}  // namespace sonde::engine::optimise
