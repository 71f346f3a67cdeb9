#include "analysis/engine/whatif/gradients/compression.h"

#include "analysis/engine/whatif/gradients/gradient_buckets.h"
#include "analysis/engine/whatif/network/networks.h"
#include "analysis/engine/whatif/transfer_edits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace sonde::engine::whatif {
namespace {

constexpr double kGuess = 0.2;  // the relative error of codecSpeed(), and of a user's figure

// A reduction of gradients.
struct Reduction {
  std::string op;
  std::int64_t bytes = 0;
  std::int64_t ranks = 0;
};

double compressedNs(const Compression& of, const Reduction& bucket, const NetworkModel& model) {
  const double bytes = static_cast<double>(bucket.bytes) * of.ratio;
  const auto sent = [&](const char* op, double all) {
    return model.ns(costOf(op, std::llround(all), bucket.ranks));
  };
  switch (of.codec) {
    case Codec::Fp16:
      return sent(bucket.op.c_str(), bytes);
    case Codec::PowerSgd:
      return sent("allreduce", bytes / 2) + sent("allreduce", bytes / 2);
    case Codec::TopK:
      break;
  }
  // Every rank's numbers and places, of four bytes each.
  return sent("allgather", 2 * bytes * static_cast<double>(bucket.ranks));
}

// The speed of a network, in bit/ns, below which compression of a large bucket pays if nothing else
// happens meanwhile.
double breakEven(const Compression& of, const Reduction& bucket, double codecNs) {
  NetworkModel perByte;
  perByte.byteNs = 1;
  const double saved =
      perByte.ns(costOf(bucket.op, bucket.bytes, bucket.ranks)) - compressedNs(of, bucket, perByte);
  return saved <= 0 || codecNs <= 0 ? 0 : 8 * saved / codecNs;
}

std::string noteOf(const Compression& of, const Reduction& bucket, double codecNs) {
  const double limit = breakEven(of, bucket, codecNs);
  const std::string pays =
      limit <= 0 ? "compression never pays: it does not make messages smaller"
                 : fmt::format(
                       "where nothing overlaps with it, it pays only on networks below "
                       "{:.3g} Gbit/s",
                       limit);
  return fmt::format(
      "encoding and decoding take {:.2f} ms for each MB of gradients, which is assumed, not "
      "measured; {}",
      codecNs / static_cast<double>(bucket.bytes),
      pays);
}

Result<void> check(const Compression& of) {
  if (!(of.ratio > 0 && of.ratio <= 1))
    return Error{ErrorCode::InvalidArgument,
                 fmt::format("a ratio of {} is not above 0 and at most 1", of.ratio)};
  if (of.bytesPerNs && !(*of.bytesPerNs > 0))
    return Error{ErrorCode::InvalidArgument, "the speed of a codec is above 0"};
  return {};
}

// Gives the reductions of a job and their senders the times of a codec.
class Compressor {
 public:
  Compressor(const Compression& of, const NetworkModel& model, double bytesPerNs)
      : of_(of), model_(model), bytesPerNs_(bytesPerNs) {}

  double codecNs(std::int64_t bytes) const { return static_cast<double>(bytes) / bytesPerNs_; }
  // Until the result is decoded.
  double reducedNs(const Reduction& bucket) const {
    return compressedNs(of_, bucket, model_) + codecNs(bucket.bytes);
  }

  // The reductions as they were measured.
  Result<void> compressMeasured(const std::vector<IterationBuckets>& iterations,
                                Scenario& scenario) const {
    TransferEdits edits(scenario);
    for (const IterationBuckets& iteration : iterations) {
      std::int64_t bytes = 0;
      for (const JobCollective* bucket : iteration.buckets) {
        bytes += bucket->bytes;
        for (const std::vector<ReadyPoint>& points : iteration.ready) {
          const ReadyPoint ready = readyAt(points, bytes);
          const graph::NodeIndex node = edits.lookup().endedBy(ready.lane, ready.ns);
          if (node != graph::kNoNode)
            scenario.extend(node, std::llround(codecNs(bucket->bytes)), Origin::Modelled);
        }
        edits.set(*bucket, reducedNs({bucket->op, bucket->bytes, bucket->ranks}), Origin::Modelled);
      }
    }
    return edits.apply();
  }

  // The reductions that an earlier question put in place of those.
  void compressMade(const JobCollective& any, Scenario& scenario) const {
    const graph::Graph& graph = scenario.graph();
    for (const MadeTransfer& each : scenario.setting().transfers) {
      if (each.communicator != any.communicator || each.op != any.op)
        continue;
      for (std::uint32_t edge = graph.firstIn[each.node]; edge < graph.firstIn[each.node + 1];
           ++edge)
        if (graph.edgeKind[edge] == graph::EdgeKind::Arrival)
          scenario.extend(graph.from[edge], std::llround(codecNs(each.bytes)), Origin::Modelled);
      scenario.setNode(
          each.node, std::llround(reducedNs({each.op, each.bytes, each.ranks})), Origin::Modelled);
    }
  }

 private:
  const Compression& of_;
  const NetworkModel& model_;
  double bytesPerNs_;
};

// An earlier question put others in place of all reductions.
bool isReplaced(const std::vector<IterationBuckets>& iterations, const TransferEdits& edits) {
  for (const IterationBuckets& each : iterations)
    for (const JobCollective* bucket : each.buckets)
      if (!edits.isReplaced(*bucket))
        return false;
  return true;
}

}  // namespace

double codecSpeed(bool isOnDevice) {
  return isOnDevice ? 300 : 2;
}

Question compression(Compression of) {
  return [of](Asking& asking) -> Result<void> {
    SONDE_TRY(check(of));
    Scenario& scenario = asking.scenario;
    SONDE_TRY_ASSIGN(const std::vector<JobCollective> all,
                     readCollectives(asking.trace, scenario.job()));
    const TransferEdits edits(scenario);
    SONDE_TRY_ASSIGN(const std::vector<IterationBuckets> iterations,
                     bucketsOf(asking.trace, scenario.job(), all, edits));
    if (iterations.empty())
      return notFound(kNoBuckets);
    const JobCollective& any = *iterations.front().buckets.front();
    if (of.codec == Codec::Fp16 && (any.type == "float16" || any.type == "bfloat16"))
      return notFound("gradients have two bytes already: ask for powersgd or topk");
    const Networks networks(scenario, all, asking.models.collectives);
    const NetworkModel* model = networks.find(any.communicator, any.op);
    if (model == nullptr)
      return notFound("the trace has too few collectives to tell how fast the network is");
    const Compressor compressor(of, *model, of.bytesPerNs.value_or(codecSpeed(any.isOnDevice)));
    if (isReplaced(iterations, edits)) {
      compressor.compressMade(any, scenario);
    } else {
      SONDE_TRY(checkMeasured(iterations, edits));
      SONDE_TRY(compressor.compressMeasured(iterations, scenario));
    }
    asking.modelError = std::max({asking.modelError, model->error, kGuess});
    asking.notes.push_back(
        noteOf(of, {any.op, any.bytes, any.ranks}, 2 * compressor.codecNs(any.bytes)));
    return {};
  };
}

}  // namespace sonde::engine::whatif
