#include "analysis/engine/whatif/gradients/measured_buckets.h"

#include "analysis/engine/whatif/network/networks.h"
#include "analysis/engine/whatif/transfer_edits.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace sonde::engine::whatif {

Result<MeasuredBuckets> readMeasuredBuckets(const Asking& asking, const TransferEdits& edits) {
  const graph::TraceGraph& job = asking.scenario.job();
  MeasuredBuckets found;
  SONDE_TRY_ASSIGN(found.all, readCollectives(asking.trace, job));
  SONDE_TRY_ASSIGN(found.iterations, bucketsOf(asking.trace, job, found.all, edits));
  for (const IterationBuckets& iteration : found.iterations)
    for (const JobCollective* bucket : iteration.buckets)
      if (found.largest == nullptr || bucket->bytes > found.largest->bytes)
        found.largest = bucket;
  if (found.largest == nullptr)
    return notFound(kNoBuckets);
  SONDE_TRY(checkMeasured(found.iterations, edits));
  const Networks networks(asking.scenario, found.all, asking.models.collectives);
  const NetworkModel* model = networks.find(found.largest->communicator, found.largest->op);
  if (model == nullptr)
    return notFound("the trace has too few collectives to tell how fast the network is");
  found.model = *model;
  return found;
}

Result<void> checkAllreduces(const MeasuredBuckets& buckets, const char* what) {
  for (const IterationBuckets& iteration : buckets.iterations)
    for (const JobCollective* bucket : iteration.buckets)
      if (bucket->op != "allreduce")
        return notFound(
            fmt::format("{} need gradients that all ranks have whole, and communicator {} reduces "
                        "them with '{}': the question is about all-reduces",
                        what,
                        bucket->communicator,
                        bucket->op));
  return {};
}

void noteOtherReductions(const MeasuredBuckets& buckets, std::vector<std::string>& notes) {
  const JobCollective& largest = *buckets.largest;
  std::set<std::string> others;
  for (const JobCollective& each : buckets.all)
    if (each.communicator != largest.communicator && each.op == largest.op &&
        each.bytes >= largest.bytes)
      others.insert(each.communicator);
  if (!others.empty())
    notes.push_back(fmt::format(
        "gradients are those of communicator {}; {} other communicator{} that reduce{} as large "
        "buckets keep{} the present way",
        largest.communicator,
        others.size(),
        others.size() == 1 ? "" : "s",
        others.size() == 1 ? "s" : "",
        others.size() == 1 ? "s" : ""));
}

Result<void> retimeBuckets(Asking& asking,
                           const BucketTime& ns,
                           const std::function<std::string(const JobCollective& bucket)>& note) {
  TransferEdits edits(asking.scenario);
  SONDE_TRY_ASSIGN(const MeasuredBuckets buckets, readMeasuredBuckets(asking, edits));
  for (const IterationBuckets& iteration : buckets.iterations)
    for (const JobCollective* bucket : iteration.buckets)
      edits.set(*bucket, ns(*bucket, buckets.model), Origin::Modelled);
  SONDE_TRY(edits.apply());
  asking.modelError = std::max(asking.modelError, buckets.model.error);
  asking.notes.push_back(note(*buckets.largest));
  return {};
}

}  // namespace sonde::engine::whatif
