#include "analysis/questions/compute_questions.h"

#include "analysis/engine/whatif/compute/accumulation.h"
#include "analysis/engine/whatif/compute/batch_size.h"
#include "analysis/engine/whatif/compute/cuda_graphs.h"
#include "analysis/engine/whatif/compute/fusion.h"
#include "analysis/engine/whatif/compute/host_syncs.h"
#include "analysis/engine/whatif/compute/layout.h"
#include "analysis/engine/whatif/compute/mixed_precision.h"
#include "analysis/engine/whatif/compute/overlap_penalty.h"
#include "analysis/engine/whatif/compute/recompute.h"
#include "analysis/engine/whatif/compute/streams.h"
#include "analysis/engine/whatif/selector.h"
#include "base/text/time_span.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

namespace sonde::questions {
namespace {

namespace whatif = engine::whatif;
using whatif::Question;

Result<Question> makeBatch(const NamedValues& values) {
  whatif::BatchSize of;
  for (const auto& [key, value] : values) {
    if (key != "x" && key != "fixed")
      return unknownKey("batch", key, "x and fixed");
    SONDE_TRY_ASSIGN((key == "x" ? of.factor : of.fixed), settingNumber(key, value));
  }
  if (!values.contains("x"))
    return missingKey("batch", "x", "x=2");
  return whatif::batchSize(of);
}

Result<Question> makeAccumulation(const NamedValues& values) {
  constexpr double kMost = 1e6;
  double factor = 0;
  for (const auto& [key, value] : values) {
    if (key != "x")
      return unknownKey("accumulation", key, "x");
    SONDE_TRY_ASSIGN(factor, settingNumber(key, value));
    if (factor < 1 || factor > kMost || std::floor(factor) != factor)
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("x='{}' is not a whole number from 1 on", value)};
  }
  if (values.empty())
    return missingKey("accumulation", "x", "x=2");
  return whatif::accumulation(static_cast<std::int64_t>(factor));
}

Result<Question> makeMixedPrecision(const NamedValues& values) {
  whatif::MixedPrecision of;
  for (const auto& [key, value] : values) {
    if (key != "matrix" && key != "memory")
      return unknownKey("mixed-precision", key, "matrix and memory");
    SONDE_TRY_ASSIGN((key == "matrix" ? of.matrix : of.memory), settingNumber(key, value));
  }
  return whatif::mixedPrecision(of);
}

Result<Question> makeFp8(const NamedValues& values) {
  double matrix = 2;
  for (const auto& [key, value] : values) {
    if (key != "matrix")
      return unknownKey("fp8", key, "matrix");
    SONDE_TRY_ASSIGN(matrix, settingNumber(key, value));
  }
  return whatif::fp8(matrix);
}

Result<Question> makeLayout(const NamedValues& values) {
  whatif::Layout of;
  for (const auto& [key, value] : values) {
    if (key != "kernels")
      return unknownKey("layout", key, "kernels");
    of.conversions = value;
  }
  return whatif::layout(std::move(of));
}

Result<Question> makeFusion(const NamedValues& values) {
  auto of = whatif::Fusion::Pointwise;
  for (const auto& [key, value] : values) {
    if (key != "of")
      return unknownKey("fusion", key, "of");
    if (value != "pointwise" && value != "optimizer")
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("'{}' cannot be fused: use pointwise or optimizer", value)};
    of = value == "optimizer" ? whatif::Fusion::Optimizer : whatif::Fusion::Pointwise;
  }
  return whatif::fusion(of);
}

Result<Question> makeNoHostSyncs(const NamedValues& values) {
  if (!values.empty())
    return unknownKey("no-host-syncs", values.begin()->first, "none");
  return whatif::noHostSyncs();
}

Result<Question> makeNoOverlapPenalty(const NamedValues& values) {
  if (!values.empty())
    return unknownKey("no-overlap-penalty", values.begin()->first, "none");
  return whatif::noOverlapPenalty();
}

Result<Question> makeRecompute(const NamedValues& values) {
  whatif::Recompute of;
  for (const auto& [key, value] : values) {
    if (key == "share") {
      SONDE_TRY_ASSIGN(of.share, settingNumber(key, value));
    } else if (key == "only") {
      SONDE_TRY_ASSIGN(of.only, whatif::parseSelector(value));
    } else {
      return unknownKey("recompute", key, "share and only");
    }
  }
  return whatif::recompute(std::move(of));
}

Result<Question> makeStreams(const NamedValues& values) {
  whatif::Streams of;
  for (const auto& [key, value] : values) {
    if (key == "branches") {
      of.branches = value;
    } else if (key == "n") {
      SONDE_TRY_ASSIGN(of.count, wholeNumber(value));
    } else {
      return unknownKey("streams", key, "branches and n");
    }
  }
  if (of.branches.empty())
    return missingKey("streams", "branches", "branches=*branch*,n=2");
  return whatif::streams(std::move(of));
}

Result<Question> makeCudaGraphs(const NamedValues& values) {
  whatif::CudaGraphs of;
  for (const auto& [key, value] : values) {
    if (key != "launch")
      return unknownKey("cuda-graphs", key, "launch");
    SONDE_TRY_ASSIGN(of.launchNs, parseTimeSpan(value));
  }
  return whatif::cudaGraphs(of);
}

constexpr std::array kComputeQuestions = {
    NamedQuestion{
        "streams", "runs branches of its model on several streams", "branches=,n=2", makeStreams},
    NamedQuestion{"no-overlap-penalty",
                  "has kernels that collectives do not slow down",
                  "",
                  makeNoOverlapPenalty},
    NamedQuestion{
        "accumulation", "accumulates gradients over more micro-batches", "x=", makeAccumulation},
    NamedQuestion{"batch", "has larger or smaller batches", "x=,fixed=0", makeBatch},
    NamedQuestion{"cuda-graphs",
                  "launches the kernels of an iteration as one graph",
                  "launch=10us",
                  makeCudaGraphs},
    NamedQuestion{"recompute",
                  "computes activations again in its backward pass",
                  "share=1,only=",
                  makeRecompute},
    NamedQuestion{"fp8", "multiplies matrices of one-byte numbers", "matrix=2", makeFp8},
    NamedQuestion{"layout", "does not convert layouts of tensors", "kernels=", makeLayout},
    NamedQuestion{"fusion", "has fused operators", "of=pointwise", makeFusion},
    NamedQuestion{"mixed-precision",
                  "computes with numbers of two bytes",
                  "matrix=3,memory=2",
                  makeMixedPrecision},
    NamedQuestion{"no-host-syncs",
                  "does not wait for its device inside of an iteration",
                  "",
                  makeNoHostSyncs},
};

}  // namespace

std::span<const NamedQuestion> computeQuestions() {
  return kComputeQuestions;
}

}  // namespace sonde::questions
