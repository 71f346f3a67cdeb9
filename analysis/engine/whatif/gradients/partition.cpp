#include "analysis/engine/whatif/gradients/partition.h"

#include "analysis/engine/whatif/gradients/gradient_buckets.h"
#include "analysis/engine/whatif/network/networks.h"
#include "analysis/engine/whatif/transfer_edits.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace sonde::engine::whatif {
namespace {

// The time of a bucket's reduction.
using BucketTime = std::function<double(const JobCollective& bucket, const NetworkModel& model)>;

Result<const JobCollective*> largestOf(const std::vector<IterationBuckets>& iterations) {
  const JobCollective* largest = nullptr;
  for (const IterationBuckets& iteration : iterations)
    for (const JobCollective* bucket : iteration.buckets)
      if (largest == nullptr || bucket->bytes > largest->bytes)
        largest = bucket;
  if (largest == nullptr)
    return notFound(kNoBuckets);
  return largest;
}

// Gives each bucket another time; `note` is about the largest one.
Result<void> retime(Asking& asking,
                    const BucketTime& ns,
                    const std::function<std::string(const JobCollective& bucket)>& note) {
  Scenario& scenario = asking.scenario;
  SONDE_TRY_ASSIGN(const std::vector<JobCollective> all,
                   readCollectives(asking.trace, scenario.job()));
  TransferEdits edits(scenario);
  SONDE_TRY_ASSIGN(const std::vector<IterationBuckets> iterations,
                   bucketsOf(asking.trace, scenario.job(), all, edits));
  SONDE_TRY_ASSIGN(const JobCollective* largest, largestOf(iterations));
  SONDE_TRY(checkMeasured(iterations, edits));
  const Networks networks(scenario, all, asking.models.collectives);
  const NetworkModel* model = networks.find(largest->communicator, largest->op);
  if (model == nullptr)
    return notFound("the trace has too few collectives to tell how fast the network is");
  for (const IterationBuckets& iteration : iterations)
    for (const JobCollective* bucket : iteration.buckets)
      edits.set(*bucket, ns(*bucket, *model), Origin::Modelled);
  SONDE_TRY(edits.apply());
  asking.modelError = std::max(asking.modelError, model->error);
  asking.notes.push_back(note(*largest));
  return {};
}

}  // namespace

Question partition(std::int64_t bytes) {
  return [bytes](Asking& asking) -> Result<void> {
    if (bytes < 1)
      return Error{ErrorCode::InvalidArgument, "a piece has at least one byte"};
    const auto ns = [bytes](const JobCollective& bucket, const NetworkModel& model) {
      const std::int64_t rest = bucket.bytes % bytes;
      const double whole = model.ns(costOf(bucket.op, bytes, bucket.ranks));
      const double last = rest > 0 ? model.ns(costOf(bucket.op, rest, bucket.ranks)) : 0;
      return static_cast<double>(bucket.bytes / bytes) * whole + last;
    };
    return retime(asking, ns, [bytes](const JobCollective& bucket) {
      return fmt::format(
          "the largest bucket is reduced in {} pieces, one after the other; the calls for more "
          "pieces take no more time. Pieces alone only add latency: 'next-forward' gives them an "
          "order",
          (bucket.bytes + bytes - 1) / bytes);
    });
  };
}

Question parameterServer(std::int64_t servers) {
  return [servers](Asking& asking) -> Result<void> {
    if (servers < 1)
      return Error{ErrorCode::InvalidArgument, "there is at least one server"};
    // The busiest link, of a rank or of a server, bounds each of push and pull.
    const auto ns = [servers](const JobCollective& bucket, const NetworkModel& model) {
      const double perServer = static_cast<double>(bucket.ranks) / static_cast<double>(servers);
      const double bytes = static_cast<double>(bucket.bytes) * std::max(perServer, 1.0);
      return 2 * (model.stepNs + model.callNs + bytes * model.byteNs);
    };
    return retime(asking, ns, [servers](const JobCollective& bucket) {
      return fmt::format(
          "{} ranks push each bucket to {} server{} and pull the sum through links that are as "
          "fast as the ranks' own; adding up takes no time, and all ranks wait for the slowest",
          bucket.ranks,
          servers,
          servers == 1 ? "" : "s");
    });
  };
}

}  // namespace sonde::engine::whatif
