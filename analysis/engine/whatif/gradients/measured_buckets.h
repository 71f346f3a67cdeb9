// The buckets of gradients for questions that give each one's reduction another time. Uses the
// database's thread while it reads.
#pragma once

#include "analysis/engine/whatif/gradients/gradient_buckets.h"
#include "analysis/engine/whatif/network/network_model.h"
#include "analysis/engine/whatif/question.h"

#include <functional>
#include <string>
#include <vector>

namespace sonde::engine::whatif {

struct MeasuredBuckets {
  std::vector<JobCollective> all;            // of the job, by last arrival
  std::vector<IterationBuckets> iterations;  // they point into `all`
  const JobCollective* largest = nullptr;
  NetworkModel model;  // of the largest one
};

// NotFound: the trace has no buckets, or too few collectives to know the network. InvalidArgument:
// an earlier question has changed them.
Result<MeasuredBuckets> readMeasuredBuckets(const Asking& asking, const TransferEdits& edits);

// NotFound: the buckets are not all-reduces, as `what` needs them.
Result<void> checkAllreduces(const MeasuredBuckets& buckets, const char* what);

// Adds a note if other communicators reduce as many bytes at a time, since they keep their times.
void noteOtherReductions(const MeasuredBuckets& buckets, std::vector<std::string>& notes);

// The time of a bucket's reduction, in ns.
using BucketTime = std::function<double(const JobCollective& bucket, const NetworkModel& model)>;

// Gives each bucket another time, which is as wrong as the model; `note` is about the largest one.
Result<void> retimeBuckets(Asking& asking,
                           const BucketTime& ns,
                           const std::function<std::string(const JobCollective& bucket)>& note);

}  // namespace sonde::engine::whatif
