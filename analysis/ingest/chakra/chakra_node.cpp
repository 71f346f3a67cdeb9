#include "analysis/ingest/chakra/chakra_node.h"

#include "analysis/ingest/import/event_kinds.h"
#include "analysis/model/times.h"
#include "base/utf8.h"
#include "generated/chakra_trace.pb.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <limits>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

namespace sonde::ingest {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;
using nlohmann::json;

constexpr const char* kNoMessage = "does not match the format";
constexpr const char* kWrongType = "has a field of another type";
constexpr std::int64_t kNsPerMicro = 1000;

// Whether a field has the wrong wire type: the parser puts those among the unknown fields.
// `isOurs`: whether this schema has the number.
template <typename IsOurs>
bool hasStranger(const std::string& unknown, const IsOurs& isOurs) {
  CodedInputStream input(reinterpret_cast<const std::uint8_t*>(unknown.data()),
                         static_cast<int>(unknown.size()));
  for (std::uint32_t tag = input.ReadTag(); tag != 0; tag = input.ReadTag()) {
    if (isOurs(WireFormatLite::GetTagFieldNumber(tag)) || !WireFormatLite::SkipField(&input, tag))
      return true;
  }
  return false;
}

// Attributes that are lists have even field numbers.
bool isBad(const chakra::Attribute& attribute) {
  constexpr int kLast = chakra::Attribute::kStringValFieldNumber;
  return hasStranger(attribute.unknown_fields(),
                     [](int number) { return number <= kLast && number % 2 == 1; });
}

bool isBad(const chakra::Tensors& tensors) {
  return hasStranger(tensors.unknown_fields(), [](int number) { return number <= 3; });
}

bool isBad(const chakra::Node& node) {
  for (const chakra::Attribute& attribute : node.attr())
    if (isBad(attribute))
      return true;
  return isBad(node.inputs()) || isBad(node.outputs()) ||
         hasStranger(node.unknown_fields(),
                     [](int number) { return number <= chakra::Node::kAttrFieldNumber; });
}

// A number that does not fit becomes text.
json whole(std::uint64_t value) {
  return value;
}

json valueOf(const chakra::Attribute& attribute) {
  if (attribute.has_string_val())
    return toText(attribute.string_val());
  if (attribute.has_bool_val())
    return attribute.bool_val();
  if (attribute.has_double_val())
    return attribute.double_val();
  if (attribute.has_float_val())
    return attribute.float_val();
  if (attribute.has_uint64_val())
    return whole(attribute.uint64_val());
  if (attribute.has_fixed64_val())
    return whole(attribute.fixed64_val());
  for (const auto& [has, value] :
       {std::pair<bool, std::int64_t>{attribute.has_int32_val(), attribute.int32_val()},
        {attribute.has_int64_val(), attribute.int64_val()},
        {attribute.has_uint32_val(), attribute.uint32_val()},
        {attribute.has_sint32_val(), attribute.sint32_val()},
        {attribute.has_sint64_val(), attribute.sint64_val()},
        {attribute.has_fixed32_val(), attribute.fixed32_val()},
        {attribute.has_sfixed32_val(), attribute.sfixed32_val()},
        {attribute.has_sfixed64_val(), attribute.sfixed64_val()}})
    if (has)
      return value;
  return nullptr;
}

// Unset: not a whole number, or does not fit.
model::OptionalInt integerOf(const json& value) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (value.is_boolean())
    return value.get<bool>() ? 1 : 0;
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > kMost)
    return {};
  if (value.is_number_integer())
    return value.get<std::int64_t>();
  return {};
}

std::optional<model::CollectiveOp> opOf(const json& value) {
  using Op = model::CollectiveOp;
  // In the order of Chakra's CollectiveCommType.
  constexpr Op kOps[] = {Op::Allreduce,
                         Op::Reduce,
                         Op::Allgather,
                         Op::Gather,
                         Op::Scatter,
                         Op::Broadcast,
                         Op::Alltoall,
                         Op::ReduceScatter,
                         Op::ReduceScatter,
                         Op::Barrier};
  if (value.is_string())
    return collectiveOf(value.get_ref<const std::string&>());
  const auto number = integerOf(value);
  if (!number || *number < 0 || *number >= static_cast<std::int64_t>(std::size(kOps)))
    return {};
  return kOps[*number];
}

void takeNumbers(const json& args, ChakraNode& node) {
  const auto integer = [&](const char* key) {
    const auto found = args.find(key);
    return found == args.end() ? model::OptionalInt() : integerOf(*found);
  };
  if (const auto host = integer("is_cpu_op"))
    node.isHost = *host != 0;
  node.stream = integer("stream");
  node.thread = integer("tid");
  node.bytes = integer("comm_size");
  if (!node.bytes)
    node.bytes = integer("tensor_size");
  node.source = integer("comm_src");
  node.destination = integer("comm_dst");
}

void takeAttributes(const chakra::Node& message, ChakraNode& node) {
  json args = json::object();
  for (const chakra::Attribute& attribute : message.attr())
    args[toText(attribute.name())] = valueOf(attribute);
  takeNumbers(args, node);
  if (const auto type = args.find("comm_type"); type != args.end())
    node.op = opOf(*type);
  if (const auto group = args.find("pg_name"); group != args.end())
    node.group = group->is_string() ? group->get<std::string>() : group->dump();
  args["id"] = whole(message.id());
  for (const auto& [key, tensors] :
       {std::pair("inputs", &message.inputs()), std::pair("outputs", &message.outputs())}) {
    if (!tensors->shapes().empty() || !tensors->types().empty())
      args[key] = {{"shapes", toText(tensors->shapes())}, {"types", toText(tensors->types())}};
  }
  node.args = args.dump(-1, ' ', false, json::error_handler_t::replace);
}

bool toNs(std::uint64_t micros, std::int64_t& ns) {
  constexpr auto kMost =
      static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() / kNsPerMicro);
  if (micros > kMost)
    return false;
  ns = static_cast<std::int64_t>(micros) * kNsPerMicro;
  return true;
}

void takeTimes(const chakra::Node& message, ChakraNode& node) {
  std::int64_t endNs = 0;
  node.hasTime = message.start_time_micros() != 0 || message.duration_micros() != 0;
  node.fits = toNs(message.start_time_micros(), node.startNs) &&
              toNs(message.duration_micros(), node.durNs) &&
              !__builtin_add_overflow(node.startNs, node.durNs, &endNs) && model::isTime(endNs);
}

}  // namespace

const char* readChakraMetadata(const std::string& message) {
  chakra::GlobalMetadata metadata;
  if (!metadata.ParseFromString(message))
    return kNoMessage;
  const bool bad = hasStranger(metadata.unknown_fields(), [](int number) { return number <= 2; });
  return bad ? kWrongType : nullptr;
}

const char* readChakraNode(const std::string& message, ChakraNode& node) {
  chakra::Node parsed;
  if (!parsed.ParseFromString(message))
    return kNoMessage;
  if (isBad(parsed))
    return kWrongType;
  node = {};
  node.id = parsed.id();
  node.name = parsed.name();
  const bool known = parsed.type() >= 0 && parsed.type() <= 7;
  node.type = known ? static_cast<ChakraType>(parsed.type()) : ChakraType::Invalid;
  node.controlDeps.assign(parsed.ctrl_deps().begin(), parsed.ctrl_deps().end());
  node.dataDeps.assign(parsed.data_deps().begin(), parsed.data_deps().end());
  takeTimes(parsed, node);
  takeAttributes(parsed, node);
  return nullptr;
}

}  // namespace sonde::ingest
