#include "analysis/engine/whatif/gradients/partition.h"

#include "analysis/engine/whatif/gradients/measured_buckets.h"

#include <fmt/format.h>

#include <algorithm>

namespace sonde::engine::whatif {

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
    return retimeBuckets(asking, ns, [bytes](const JobCollective& bucket) {
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
      return 2 * (model.stepNs + model.callNs + bytes * (model.byteNs + model.payloadNs));
    };
    return retimeBuckets(asking, ns, [servers](const JobCollective& bucket) {
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
