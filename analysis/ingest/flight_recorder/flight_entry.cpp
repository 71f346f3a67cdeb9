#include "analysis/ingest/flight_recorder/flight_entry.h"

#include "analysis/ingest/import/event_kinds.h"
#include "base/utf8.h"

#include <charconv>
#include <utility>

#include <nlohmann/json.hpp>

namespace sonde::ingest {
namespace {

using model::CollectiveOp;
using nlohmann::json;

constexpr std::size_t kMostElements = 4096;  // of one argument
constexpr int kDeepestArgument = 4;

// The value as JSON; unset: it is too large or too deep.
std::optional<json> jsonOf(const Value& value, std::size_t& left, int depth = 0) {
  if (left == 0 || depth > kDeepestArgument)
    return {};
  --left;
  if (value.isSequence()) {
    json list = json::array();
    for (std::size_t at = 0; at < value.size(); ++at) {
      auto element = jsonOf(value.at(at), left, depth + 1);
      if (!element)
        return {};
      list.push_back(*std::move(element));
    }
    return list;
  }
  if (const auto flag = value.boolean())
    return json(*flag);
  if (const auto text = value.text())
    return json(toText(*text));
  if (const auto number = value.integer())
    return json(*number);
  if (const auto number = value.real())
    return json(*number);
  return value.isDict() ? std::optional<json>() : json(nullptr);
}

std::string argsOf(const Value& entry) {
  constexpr std::string_view kKeys[] = {"record_id",
                                        "pg_id",
                                        "op_id",
                                        "collective_seq_id",
                                        "p2p_seq_id",
                                        "profiling_name",
                                        "state",
                                        "is_p2p",
                                        "input_sizes",
                                        "input_dtypes",
                                        "output_sizes",
                                        "output_dtypes",
                                        "time_discovered_started_ns",
                                        "time_discovered_completed_ns",
                                        "duration_ms",
                                        "timeout_ms",
                                        "retired"};
  json args = json::object();
  for (const std::string_view key : kKeys) {
    std::size_t left = kMostElements;
    if (!entry.has(key))
      continue;
    if (auto value = jsonOf(entry.find(key), left))
      args[std::string(key)] = *std::move(value);
  }
  return args.dump(-1, ' ', false, json::error_handler_t::replace);
}

// "BFloat16" for ["BFloat16"], and for the text itself.
std::string_view firstText(const Value& value) noexcept {
  return value.isSequence() ? value.at(0).text().value_or("") : value.text().value_or("");
}

// Bytes of an element of types that the trace has no word for, too.
std::int64_t bytesOfType(std::string_view type) noexcept {
  if (type.starts_with("Float8"))
    return 1;
  if (type == "Short" || type == "UInt16")
    return 2;
  if (type == "UInt32")
    return 4;
  if (type == "UInt64" || type == "ComplexFloat")
    return 8;
  return type == "ComplexDouble" ? 16 : bytesOf(dataTypeOf(type));
}

// The bytes of the tensors with these shapes; unset: unknown.
std::optional<std::int64_t> bytesOfTensors(const Value& shapes, std::string_view type) {
  const std::int64_t each = bytesOfType(type);
  if (!shapes.isSequence() || shapes.size() == 0 || each == 0)
    return {};
  std::int64_t sum = 0;
  for (std::size_t tensor = 0; tensor < shapes.size(); ++tensor) {
    const Value shape = shapes.at(tensor);
    if (!shape.isSequence())
      return {};
    std::int64_t bytes = each;
    for (std::size_t at = 0; at < shape.size(); ++at) {
      const auto length = shape.at(at).integer();
      if (!length || *length < 0 || __builtin_mul_overflow(bytes, *length, &bytes))
        return {};
    }
    if (__builtin_add_overflow(sum, bytes, &sum))
      return {};
  }
  return sum;
}

// A tensor that a rank does not have is written as one without dimensions and type.
void takeTensors(const Value& value, FlightEntry& entry) {
  const std::string_view input = firstText(value.find("input_dtypes"));
  const std::string_view output = firstText(value.find("output_dtypes"));
  entry.sendBytes = bytesOfTensors(value.find("input_sizes"), input);
  entry.recvBytes = bytesOfTensors(value.find("output_sizes"), output);
  entry.dtype = dataTypeOf(!input.empty() && entry.op != CollectiveOp::Scatter ? input : output);
}

// "send 0->3", "recv 3<-0".
void takePeer(FlightEntry& entry) {
  const std::size_t space = entry.operation.find(' ');
  const std::size_t arrow = entry.operation.find_first_of("-<", space);
  if (space == entry.operation.npos || arrow == entry.operation.npos ||
      arrow + 2 >= entry.operation.size())
    return;
  const char* const last = entry.operation.data() + entry.operation.size();
  std::int64_t peer = 0;
  const auto [end, error] = std::from_chars(entry.operation.data() + arrow + 2, last, peer);
  if (error == std::errc{} && end == last)
    entry.peer = peer;
}

void takeOperation(std::string_view name, FlightEntry& entry) {
  const std::size_t colon = name.find(':');
  entry.operation = toText(colon == name.npos ? name : name.substr(colon + 1));
  entry.isCoalesced = entry.operation == "coalesced";
  entry.op = collectiveOf(entry.operation);
  if (entry.op && model::isPointToPoint(*entry.op))
    takePeer(entry);
}

void takeGroup(const Value& value, FlightEntry& entry) {
  const Value group = value.find("process_group");
  entry.localGroup = value.find("pg_id").integer();
  if (group.isSequence()) {
    entry.group = toText(group.at(0).text().value_or(""));
    entry.description = toText(group.at(1).text().value_or(""));
  } else if (const auto name = group.text()) {
    entry.group = toText(*name);
  }
  if (entry.group.empty() && entry.localGroup)
    entry.group = std::to_string(*entry.localGroup);
}

}  // namespace

std::optional<FlightEntry> flightEntryOf(const Value& value, std::string_view& missing) {
  FlightEntry entry;
  takeGroup(value, entry);
  const auto name = value.find("profiling_name").text();
  const auto state = value.find("state").text();
  const auto created = value.find("time_created_ns").integer();
  missing = entry.group.empty() ? "process_group"
            : !name             ? "profiling_name"
            : !state            ? "state"
            : !created          ? "time_created_ns"
                                : "";
  if (!missing.empty())
    return {};
  takeOperation(*name, entry);
  takeTensors(value, entry);
  const bool isPointToPoint = entry.op && model::isPointToPoint(*entry.op);
  if (!isPointToPoint)
    entry.seq = value.find("collective_seq_id").integer();
  entry.p2pCalls = value.find("p2p_seq_id").integer().value_or(0);
  entry.root = value.find("root").integer();
  entry.createdNs = *created;
  entry.isCompleted = *state == "completed";
  if (entry.isCompleted)
    entry.completedNs = value.find("time_discovered_completed_ns").integer();
  entry.thread = value.find("thread_id").integer();
  entry.threadName = toText(value.find("thread_name").text().value_or(""));
  entry.frames = value.find("frames");
  entry.args = argsOf(value);
  return entry;
}

}  // namespace sonde::ingest
