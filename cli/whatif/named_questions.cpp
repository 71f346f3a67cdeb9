#include "cli/whatif/named_questions.h"

#include "analysis/engine/whatif/compute/accumulation.h"
#include "analysis/engine/whatif/compute/batch_size.h"
#include "analysis/engine/whatif/compute/fusion.h"
#include "analysis/engine/whatif/compute/host_syncs.h"
#include "analysis/engine/whatif/compute/mixed_precision.h"
#include "analysis/engine/whatif/gradients/compression.h"
#include "analysis/engine/whatif/gradients/overlap.h"
#include "analysis/engine/whatif/network/network.h"
#include "analysis/engine/whatif/no_stragglers.h"
#include "analysis/engine/whatif/ranks/ranks.h"
#include "analysis/engine/whatif/selector.h"
#include "cli/text/byte_size.h"
#include "cli/text/number_checks.h"
#include "cli/text/time_span.h"
#include "cli/whatif/bandwidth.h"
#include "cli/whatif/device_question.h"
#include "cli/whatif/pipeline_questions.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace sonde::cli {
namespace {

namespace whatif = engine::whatif;
using whatif::Question;

Result<Question> makeNoStragglers(const NamedValues& values) {
  whatif::NoStragglers of;
  for (const auto& [key, value] : values) {
    if (key != "only" && key != "keep")
      return unknownKey("no-stragglers", key, "only and keep");
    SONDE_TRY_ASSIGN((key == "only" ? of.only : of.keep), whatif::parseSelector(value));
  }
  return whatif::noStragglers(std::move(of));
}

// A number of a setting, with or without "%".
Result<double> numberIn(const std::string& key, std::string value) {
  const bool isPercent = value.ends_with('%');
  if (isPercent)
    value.pop_back();
  const auto number = numberOf(value);
  if (!number)
    return Error{ErrorCode::InvalidArgument, fmt::format("{}='{}' is not a number", key, value)};
  return isPercent ? *number / 100 : *number;
}

Error missingKey(const char* question, const char* key, const char* example) {
  return {
      ErrorCode::InvalidArgument,
      fmt::format("the question '{}' needs {}=…, as in {},{}", question, key, question, example)};
}

Result<Question> makeBatch(const NamedValues& values) {
  whatif::BatchSize of;
  for (const auto& [key, value] : values) {
    if (key != "x" && key != "fixed")
      return unknownKey("batch", key, "x and fixed");
    SONDE_TRY_ASSIGN((key == "x" ? of.factor : of.fixed), numberIn(key, value));
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
    SONDE_TRY_ASSIGN(factor, numberIn(key, value));
    if (factor < 1 || factor > kMost || std::floor(factor) != factor)
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("x='{}' is not a whole number from 1 on", value)};
  }
  if (values.empty())
    return missingKey("accumulation", "x", "x=2");
  return whatif::accumulation(static_cast<std::int64_t>(factor));
}

constexpr std::array<std::pair<std::string_view, whatif::Codec>, 3> kCodecs = {
    {{"fp16", whatif::Codec::Fp16},
     {"powersgd", whatif::Codec::PowerSgd},
     {"topk", whatif::Codec::TopK}}};

Result<whatif::Codec> parseCodec(const std::string& text) {
  for (const auto& [name, codec] : kCodecs)
    if (text == name)
      return codec;
  return Error{ErrorCode::InvalidArgument,
               fmt::format("there is no codec '{}': use fp16, powersgd or topk", text)};
}

Result<Question> makeCompression(const NamedValues& values) {
  whatif::Compression of;
  for (const auto& [key, value] : values) {
    if (key == "codec") {
      SONDE_TRY_ASSIGN(of.codec, parseCodec(value));
    } else if (key == "ratio") {
      SONDE_TRY_ASSIGN(of.ratio, numberIn(key, value));
    } else if (key == "speed") {
      SONDE_TRY_ASSIGN(const std::int64_t bits, parseBandwidth(value));
      of.bytesPerNs = static_cast<double>(bits) / 8e9;
    } else {
      return unknownKey("compression", key, "codec, ratio and speed");
    }
  }
  if (of.codec != whatif::Codec::Fp16 && !values.contains("ratio"))
    return missingKey("compression", "ratio", "codec=topk,ratio=1%");
  return whatif::compression(of);
}

Result<Question> makeOverlap(const NamedValues& values) {
  std::int64_t bytes = std::int64_t{25} << 20;  // as DistributedDataParallel's default
  for (const auto& [key, value] : values) {
    if (key != "bucket")
      return unknownKey("overlap", key, "bucket");
    SONDE_TRY_ASSIGN(const std::uint64_t parsed, parseByteSize(value));
    bytes = static_cast<std::int64_t>(parsed);
  }
  return whatif::overlap(bytes);
}

Result<Question> makeMixedPrecision(const NamedValues& values) {
  whatif::MixedPrecision of;
  for (const auto& [key, value] : values) {
    if (key != "matrix" && key != "memory")
      return unknownKey("mixed-precision", key, "matrix and memory");
    SONDE_TRY_ASSIGN((key == "matrix" ? of.matrix : of.memory), numberIn(key, value));
  }
  return whatif::mixedPrecision(of);
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

Result<Question> makeRanks(const NamedValues& values) {
  whatif::Ranks of;
  bool hasCount = false;
  for (const auto& [key, value] : values) {
    if (key == "n") {
      SONDE_TRY_ASSIGN(of.count, wholeNumber(value));
      hasCount = true;
    } else if (key == "cores") {
      SONDE_TRY_ASSIGN(of.processors, wholeNumber(value));
    } else if (key == "batch" && (value == "rank" || value == "global")) {
      of.batch = value == "global" ? whatif::Batch::Global : whatif::Batch::OfRank;
    } else if (key == "batch") {
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("'{}' is no batch that stays: use rank or global", value)};
    } else {
      return unknownKey("ranks", key, "n, batch and cores");
    }
  }
  if (!hasCount)
    return Error{ErrorCode::InvalidArgument, "give the number of ranks, as in n=8"};
  return whatif::ranks(of);
}

// A question of `--ask`.
struct NamedQuestion {
  const char* name;
  Result<Question> (*make)(const NamedValues& values);
};

constexpr std::array kNamed = {
    NamedQuestion{"accumulation", makeAccumulation},
    NamedQuestion{"batch", makeBatch},
    NamedQuestion{"block-sparsity", makeBlockSparsity},
    NamedQuestion{"compression", makeCompression},
    NamedQuestion{"degrees", makeDegrees},
    NamedQuestion{"device", makeDevice},
    NamedQuestion{"fusion", makeFusion},
    NamedQuestion{"mixed-precision", makeMixedPrecision},
    NamedQuestion{"network", makeNetwork},
    NamedQuestion{"no-host-syncs", makeNoHostSyncs},
    NamedQuestion{"no-stragglers", makeNoStragglers},
    NamedQuestion{"overlap", makeOverlap},
    NamedQuestion{"pipeline", makePipeline},
    NamedQuestion{"ranks", makeRanks},
};

}  // namespace

Result<Question> makeNetwork(const NamedValues& values) {
  whatif::Network of;
  for (const auto& [key, value] : values) {
    if (key == "latency") {
      SONDE_TRY_ASSIGN(of.latencyNs, parseTimeSpan(value));
    } else if (key == "bandwidth" && value.starts_with('x')) {
      of.bandwidthFactor = numberOf(value.substr(1));
      if (of.bandwidthFactor.value_or(0) <= 0)
        return Error{ErrorCode::InvalidArgument,
                     fmt::format("'{}' is not a factor above 0, such as x2", value)};
    } else if (key == "bandwidth") {
      SONDE_TRY_ASSIGN(const std::int64_t bits, parseBandwidth(value));
      of.bytesPerNs = static_cast<double>(bits) / 8e9;
    } else {
      return unknownKey("network", key, "bandwidth and latency");
    }
  }
  if (values.empty())
    return Error{ErrorCode::InvalidArgument,
                 "give bandwidth=…, latency=… or both, as in bandwidth=10Gbit/s,latency=20us"};
  return whatif::network(of);
}

Result<Question> parseAsk(const std::string& text) {
  SONDE_TRY_ASSIGN(const Asked asked, parseAsked(text));
  return makeAsked(asked);
}

Result<Question> makeAsked(const Asked& asked) {
  std::string names;
  for (const NamedQuestion& each : kNamed) {
    if (asked.name == each.name)
      return each.make(asked.values);
    names += fmt::format("{}{}", names.empty() ? "" : ", ", each.name);
  }
  return Error{ErrorCode::InvalidArgument,
               fmt::format("there is no question '{}': use {}", asked.name, names)};
}

}  // namespace sonde::cli
