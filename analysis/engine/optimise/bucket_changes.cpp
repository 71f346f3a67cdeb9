#include "analysis/engine/optimise/bucket_changes.h"

#include "analysis/engine/optimise/chain.h"
#include "analysis/engine/whatif/gradients/bucket_size.h"
#include "analysis/engine/whatif/gradients/compression.h"
#include "analysis/engine/whatif/gradients/gradient_buckets.h"
#include "analysis/engine/whatif/gradients/overlap.h"
#include "analysis/engine/whatif/gradients/rebucketing.h"
#include "analysis/engine/whatif/network/network.h"
#include "analysis/engine/whatif/network/networks.h"
#include "analysis/engine/whatif/transfer_edits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>

namespace sonde::engine::optimise {
namespace {

using whatif::IterationBuckets;

constexpr std::int64_t kKiB = 1024;
constexpr std::int64_t kMiB = 1024 * kKiB;
constexpr double kMargin = 0.02;      // of an iteration
constexpr std::int64_t kPieces = 64;  // of gradients whose sizes are unknown

// A job's gradients in one of its iterations, and the network that reduces them.
struct Gradients {
  std::vector<ChainLink> chain;
  whatif::GradientSizes known;
  std::int64_t bytes = 0;
  bool overlap = false;  // they are reduced during the backward pass
  std::string op;
  std::int64_t ranks = 0;
  bool isOnDevice = false;
  whatif::NetworkModel network;

  double syncNs(std::int64_t of) const { return network.ns(models::costOf(op, of, ranks)); }
};

// A job as other changes may make it: the best size of buckets depends on them.
struct Variant {
  double compute;  // the part of its time that computing takes
  bool isCompressed;
};
constexpr Variant kVariants[] = {
    {1, false}, {1, true}, {0.5, false}, {0.5, true}, {1.0 / 3, false}, {1.0 / 3, true}};

std::vector<ChainLink> chainOf(const std::vector<whatif::ReadyPoint>& ready,
                               const std::vector<std::int64_t>& sizes) {
  std::vector<ChainLink> chain;
  std::int64_t bytes = 0;
  std::int64_t before = ready.front().ns;
  for (const std::int64_t each : sizes) {
    bytes += each;
    const std::int64_t now = std::max(before, whatif::readyAt(ready, bytes).ns);
    chain.push_back({static_cast<double>(now - before), each});
    before = now;
  }
  return chain;
}

Result<Gradients> readGradients(const whatif::AskedJob& job) {
  whatif::Scenario scenario(job.measured());
  SONDE_TRY_ASSIGN(const std::vector<whatif::JobCollective> all,
                   whatif::readCollectives(job.trace(), job.job()));
  const whatif::TransferEdits edits(scenario);
  SONDE_TRY_ASSIGN(const std::vector<IterationBuckets> iterations,
                   whatif::bucketsOf(job.trace(), job.job(), all, edits));
  if (iterations.empty())
    return notFound(whatif::kNoBuckets);
  const IterationBuckets& middle = iterations[iterations.size() / 2];
  const whatif::JobCollective& any = *middle.buckets.front();
  const whatif::Networks networks(scenario, all, job.models().collectives);
  const whatif::NetworkModel* model = networks.find(any.communicator, any.op);
  if (model == nullptr)
    return notFound("the trace has too few collectives to tell how fast the network is");
  Gradients found;
  SONDE_TRY_ASSIGN(found.known, whatif::readGradientSizes(job.trace()));
  found.bytes = middle.bytes();
  found.overlap = whatif::isOverlapped(middle);
  found.op = any.op;
  found.ranks = any.ranks;
  found.isOnDevice = any.isOnDevice;
  found.network = *model;
  std::int64_t sum = 0;
  for (const std::int64_t each : found.known.bytes)
    sum += each;
  if (sum != found.bytes)
    found.known.bytes =
        whatif::cutAt(found.bytes, std::max<std::int64_t>(found.bytes / kPieces, 1));
  found.chain = chainOf(middle.ready.front(), found.known.bytes);
  return found;
}

// How many of the gradients each bucket of this size holds.
Buckets bucketsAt(const Gradients& of, std::int64_t limit) {
  const std::int64_t first = of.known.firstLimit > 0 ? of.known.firstLimit : limit;
  Buckets buckets;
  bool isOpen = false;
  std::int64_t bytes = 0;  // of the last bucket
  for (const std::int64_t each : of.known.bytes) {
    if (!isOpen) {
      buckets.push_back(0);
      bytes = 0;
    }
    ++buckets.back();
    bytes += each;
    isOpen = bytes < (buckets.size() == 1 ? first : limit);
  }
  return buckets;
}

std::string textOf(std::int64_t bytes) {
  return bytes % kMiB == 0 ? fmt::format("{}MiB", bytes / kMiB)
                           : fmt::format("{}KiB", bytes / kKiB);
}

Change changeTo(std::int64_t bytes, bool overlaps) {
  const std::string size = textOf(bytes);
  Change change;
  change.what = fmt::format(
      "reduce gradients {}in buckets of {}", overlaps ? "" : "during the backward pass, ", size);
  change.setting = fmt::format("DistributedDataParallel(bucket_cap_mb={:.4g})",
                               static_cast<double>(bytes) / static_cast<double>(kMiB));
  change.question = overlaps ? "--bucket-size " + size : "--ask overlap,bucket=" + size;
  change.ask = overlaps ? whatif::bucketSize(bytes) : whatif::overlap(bytes);
  return change;
}

// When the reductions end, by size.
std::vector<double> endsOf(const Gradients& of,
                           const std::vector<std::int64_t>& sizes,
                           const Variant& variant) {
  const auto codecNs = [&](std::int64_t bytes) {
    return variant.isCompressed ? static_cast<double>(bytes) / whatif::codecSpeed(of.isOnDevice)
                                : 0.0;
  };
  const auto syncNs = [&](std::int64_t bytes) {
    return of.syncNs(variant.isCompressed ? bytes / 2 : bytes) + codecNs(bytes);
  };
  std::vector<ChainLink> chain = of.chain;
  for (ChainLink& each : chain)
    each.computeNs = variant.compute * each.computeNs + codecNs(each.bytes);
  std::vector<double> ends;
  for (const std::int64_t each : sizes)
    ends.push_back(replayChain(chain, bucketsAt(of, each), syncNs).syncNs);
  return ends;
}

Family familyOf(const Gradients& gradients, const std::vector<std::int64_t>& sizes) {
  Family family{"bucket-size"};
  for (const std::int64_t each : sizes)
    family.changes.push_back(changeTo(each, gradients.overlap));
  family.ideal = whatif::network({.bandwidthFactor = 1e6, .latencyNs = 0});
  return family;
}

}  // namespace

std::vector<std::int64_t> bucketSizes(std::int64_t bytes) {
  constexpr std::int64_t kParts[] = {64, 48, 32, 24, 16, 12, 8, 6, 5, 4, 3, 2, 1};
  std::vector<std::int64_t> sizes;
  for (const std::int64_t parts : kParts) {
    const std::int64_t part = (bytes + parts - 1) / parts;
    const std::int64_t unit = part > 4 * kMiB ? kMiB / 4 : part > kMiB ? kMiB / 16 : kKiB;
    const std::int64_t size = (part + unit - 1) / unit * unit;
    if (sizes.empty() || size > sizes.back())
      sizes.push_back(size);
  }
  return sizes;
}

Result<Family> bucketChanges(const whatif::AskedJob& job) {
  SONDE_TRY_ASSIGN(const Gradients gradients, readGradients(job));
  const std::vector<std::int64_t> sizes = bucketSizes(gradients.bytes);
  std::set<std::int64_t> good;
  for (const Variant& variant : kVariants) {
    const std::vector<double> ends = endsOf(gradients, sizes, variant);
    const double best = *std::min_element(ends.begin(), ends.end());
    for (std::size_t i = 0; i < sizes.size(); ++i)
      if (ends[i] <= best + kMargin * variant.compute * job.baselineNs())
        good.insert(sizes[i]);
  }
  return familyOf(gradients, {good.begin(), good.end()});
}

Result<Family> allBucketChanges(const whatif::AskedJob& job) {
  SONDE_TRY_ASSIGN(const Gradients gradients, readGradients(job));
  return familyOf(gradients, bucketSizes(gradients.bytes));
}

}  // namespace sonde::engine::optimise
