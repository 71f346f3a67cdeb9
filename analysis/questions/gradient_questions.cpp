#include "analysis/questions/gradient_questions.h"

#include "analysis/engine/whatif/compute/next_forward.h"
#include "analysis/engine/whatif/gradients/compression.h"
#include "analysis/engine/whatif/gradients/overlap.h"
#include "analysis/engine/whatif/gradients/partition.h"
#include "analysis/questions/bandwidth.h"
#include "base/text/byte_size.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace sonde::questions {
namespace {

namespace whatif = engine::whatif;
using whatif::Question;

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
      SONDE_TRY_ASSIGN(of.ratio, settingNumber(key, value));
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

Result<Question> makePartition(const NamedValues& values) {
  std::int64_t bytes = std::int64_t{4} << 20;  // as ByteScheduler's default
  for (const auto& [key, value] : values) {
    if (key != "size")
      return unknownKey("partition", key, "size");
    SONDE_TRY_ASSIGN(const std::uint64_t parsed, parseByteSize(value));
    bytes = static_cast<std::int64_t>(parsed);
  }
  return whatif::partition(bytes);
}

Result<Question> makeNextForward(const NamedValues& values) {
  whatif::NextForward of;
  for (const auto& [key, value] : values) {
    if (key != "size")
      return unknownKey("next-forward", key, "size");
    SONDE_TRY_ASSIGN(const std::uint64_t parsed, parseByteSize(value));
    of.pieceBytes = static_cast<std::int64_t>(parsed);
  }
  return whatif::nextForward(of);
}

Result<Question> makeParameterServer(const NamedValues& values) {
  std::int64_t servers = 1;
  for (const auto& [key, value] : values) {
    if (key != "servers")
      return unknownKey("parameter-server", key, "servers");
    SONDE_TRY_ASSIGN(servers, wholeNumber(value));
  }
  return whatif::parameterServer(servers);
}

constexpr std::array kGradientQuestions = {
    NamedQuestion{"next-forward",
                  "reduces gradients until its next forward pass needs them",
                  "size=",
                  makeNextForward},
    NamedQuestion{"compression",
                  "compresses gradients before it reduces them",
                  "codec=fp16,ratio=,speed=",
                  makeCompression},
    NamedQuestion{
        "overlap", "reduces gradients during the backward pass", "bucket=25MiB", makeOverlap},
    NamedQuestion{
        "parameter-server", "adds gradients up on servers", "servers=1", makeParameterServer},
    NamedQuestion{
        "partition", "reduces each bucket of gradients in pieces", "size=4MiB", makePartition},
};

}  // namespace

std::span<const NamedQuestion> gradientQuestions() {
  return kGradientQuestions;
}

}  // namespace sonde::questions
