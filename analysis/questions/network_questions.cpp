#include "analysis/questions/network_questions.h"

#include "analysis/engine/whatif/gradients/adasum.h"
#include "analysis/engine/whatif/gradients/averaging.h"
#include "analysis/engine/whatif/topology/placement.h"
#include "analysis/engine/whatif/topology/topology.h"
#include "analysis/questions/bandwidth.h"
#include "base/text/time_span.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

namespace sonde::questions {
namespace {

namespace whatif = engine::whatif;
using whatif::Question;

constexpr const char* kTopologyKeys =
    "per-node, inside, between, inside-latency, between-latency, nics and algorithm";

Result<whatif::Algorithm> parseAlgorithm(const std::string& text) {
  for (const auto& [name, algorithm] : whatif::kAlgorithms)
    if (text == name)
      return algorithm;
  return Error{
      ErrorCode::InvalidArgument,
      fmt::format("there is no algorithm '{}': use ring, tree, hierarchical or in-network", text)};
}

Result<double> bytesPerNs(const std::string& text) {
  SONDE_TRY_ASSIGN(const std::int64_t bits, parseBandwidth(text));
  return static_cast<double>(bits) / 8e9;
}

// False: it has no such key.
Result<bool> setTopology(const std::string& key, const std::string& value, whatif::Topology& of) {
  if (key == "per-node" || key == "nics") {
    SONDE_TRY_ASSIGN((key == "nics" ? of.nics : of.perNode), wholeNumber(value));
  } else if (key == "inside" || key == "between") {
    SONDE_TRY_ASSIGN((key == "inside" ? of.insideBytesPerNs : of.betweenBytesPerNs),
                     bytesPerNs(value));
  } else if (key == "inside-latency" || key == "between-latency") {
    SONDE_TRY_ASSIGN((key == "inside-latency" ? of.insideLatencyNs : of.betweenLatencyNs),
                     parseTimeSpan(value));
  } else if (key == "algorithm") {
    SONDE_TRY_ASSIGN(of.algorithm, parseAlgorithm(value));
  } else {
    return false;
  }
  return true;
}

Result<void> checkGiven(const char* question, const NamedValues& values) {
  for (const char* key : {"per-node", "inside", "between"})
    if (!values.contains(key))
      return missingKey(question, key, "per-node=8,inside=300GB/s,between=200Gbit/s");
  return {};
}

Result<Question> makeTopology(const NamedValues& values) {
  whatif::Topology of;
  for (const auto& [key, value] : values) {
    SONDE_TRY_ASSIGN(const bool isKnown, setTopology(key, value, of));
    if (!isKnown)
      return unknownKey("topology", key, kTopologyKeys);
  }
  SONDE_TRY(checkGiven("topology", values));
  return whatif::topology(of);
}

// The strides of axes, with dashes in between.
Result<std::vector<std::int64_t>> parseOrder(const std::string& text) {
  std::vector<std::int64_t> order;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, '-');) {
    SONDE_TRY_ASSIGN(const std::int64_t stride, wholeNumber(part));
    order.push_back(stride);
  }
  if (!order.empty())
    return order;
  return Error{ErrorCode::InvalidArgument,
               "give how far the ranks of each axis are apart, as in order=4-1"};
}

Result<Question> makePlacement(const NamedValues& values) {
  whatif::Placement of;
  for (const auto& [key, value] : values) {
    if (key == "order") {
      SONDE_TRY_ASSIGN(of.order, parseOrder(value));
      continue;
    }
    SONDE_TRY_ASSIGN(const bool isKnown, setTopology(key, value, of.topology));
    if (!isKnown)
      return unknownKey("placement", key, fmt::format("order, {}", kTopologyKeys).c_str());
  }
  SONDE_TRY(checkGiven("placement", values));
  return whatif::placement(of);
}

Result<Question> makeAveraging(const NamedValues& values) {
  whatif::Averaging of;
  for (const auto& [key, value] : values) {
    if (key == "size") {
      SONDE_TRY_ASSIGN(of.size, wholeNumber(value));
    } else if (key == "wait" && (value == "yes" || value == "no")) {
      of.waits = value == "yes";
    } else if (key == "wait") {
      return Error{ErrorCode::InvalidArgument, fmt::format("wait={} is not yes or no", value)};
    } else {
      return unknownKey("averaging", key, "size and wait");
    }
  }
  return whatif::averaging(of);
}

Result<Question> makeAdasum(const NamedValues& values) {
  whatif::Adasum of;
  for (const auto& [key, value] : values) {
    if (key != "speed")
      return unknownKey("adasum", key, "speed");
    SONDE_TRY_ASSIGN(of.bytesPerNs, bytesPerNs(value));
  }
  return whatif::adasum(of);
}

constexpr std::array kNetworkQuestions = {
    NamedQuestion{"adasum", "combines gradients by dot products", "speed=", makeAdasum},
    NamedQuestion{
        "averaging", "averages gradients in groups of ranks", "size=,wait=yes", makeAveraging},
    NamedQuestion{
        "placement",
        "has its ranks on nodes in another order",
        "per-node=,inside=,between=,order=,inside-latency=,between-latency=,nics=1,algorithm=",
        makePlacement},
    NamedQuestion{"topology",
                  "runs on nodes of several ranks, with NICs between them",
                  "per-node=,inside=,between=,inside-latency=,between-latency=,nics=1,algorithm=",
                  makeTopology},
};

}  // namespace

std::span<const NamedQuestion> networkQuestions() {
  return kNetworkQuestions;
}

}  // namespace sonde::questions
