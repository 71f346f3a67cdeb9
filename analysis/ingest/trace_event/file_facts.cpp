#include "analysis/ingest/trace_event/file_facts.h"

#include "analysis/ingest/input/decimal_time.h"

#include <limits>

#include <nlohmann/json.hpp>

namespace sonde::ingest {
namespace {

using nlohmann::json;

json parsed(std::string_view text) {
  return json::parse(text, nullptr, false);  // what is not JSON is "discarded", which is no object
}

// None: it is no whole number, or does not fit.
OptionalNumber integerOf(const json& value) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!value.is_number_integer())
    return {};
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > kMost)
    return {};
  return value.get<std::int64_t>();
}

OptionalNumber integerAt(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? OptionalNumber() : integerOf(*found);
}

std::string textAt(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// None: one of them is no number.
std::vector<std::int64_t> ranksOf(const json& list) {
  std::vector<std::int64_t> ranks;
  for (const json& entry : list) {
    const OptionalNumber rank = integerOf(entry);
    if (!rank)
      return {};
    ranks.push_back(*rank);
  }
  return ranks;
}

ProcessGroups groupsOf(const json& info) {
  ProcessGroups groups;
  const auto list = info.find("pg_config");
  if (list == info.end() || !list->is_array())
    return groups;
  for (const json& entry : *list) {
    if (!entry.is_object())
      continue;
    const auto name = entry.find("pg_name");
    const auto ranks = entry.find("ranks");
    if (name == entry.end() || !name->is_string() || ranks == entry.end() || !ranks->is_array())
      continue;
    const auto count = static_cast<std::int64_t>(ranks->size());
    if (integerAt(entry, "pg_size").value_or(count) == count)
      groups.try_emplace(name->get<std::string>(), ranksOf(*ranks));
  }
  return groups;
}

}  // namespace

OptionalNumber baseTimeOf(std::string_view baseTimeNanoseconds) {
  std::string_view digits = baseTimeNanoseconds;
  while (!digits.empty() && std::string_view(" \t\r\n").find(digits.back()) != digits.npos)
    digits.remove_suffix(1);
  if (digits.size() > 1 && digits.front() == '"' && digits.back() == '"')
    digits = digits.substr(1, digits.size() - 2);
  const OptionalNumber base = scaledDecimal(digits, 0);
  return base && isTime(*base) ? base : OptionalNumber();
}

DistributedInfo distributedInfoOf(std::string_view distributedInfo) {
  const json info = parsed(distributedInfo);
  if (!info.is_object())
    return {};
  return {integerAt(info, "rank"), integerAt(info, "world_size"), groupsOf(info)};
}

std::vector<DeviceFacts> devicesOf(std::string_view deviceProperties) {
  std::vector<DeviceFacts> devices;
  const json list = parsed(deviceProperties);
  if (!list.is_array())
    return devices;
  for (const json& entry : list) {
    const OptionalNumber ordinal = entry.is_object() ? integerAt(entry, "id") : OptionalNumber();
    if (!ordinal)
      continue;
    DeviceFacts device;
    device.ordinal = *ordinal;
    device.host = textAt(entry, "host");
    device.facts.name = textAt(entry, "name");
    device.facts.memoryBytes = integerAt(entry, "totalGlobalMem");
    device.facts.uuid = textAt(entry, "uuid");
    if (const std::string kind = textAt(entry, "kind"); !kind.empty())
      device.facts.kind = kind;
    devices.push_back(std::move(device));
  }
  return devices;
}

}  // namespace sonde::ingest
