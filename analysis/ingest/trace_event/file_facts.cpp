#include "analysis/ingest/trace_event/file_facts.h"

#include "analysis/ingest/input/decimal_time.h"
#include "analysis/ingest/trace_event/small_json.h"

#include <optional>
#include <utility>

namespace sonde::ingest {
namespace {

// Unset: not a whole number, or does not fit.
OptionalNumber integerOf(od::value value) {
  std::int64_t number = 0;
  return value.get_int64().get(number) == simdjson::SUCCESS ? OptionalNumber(number)
                                                            : OptionalNumber();
}

// Empty: not a text.
std::string textOf(od::value value) {
  std::string_view text;
  return value.get_string().get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

struct RankList {
  std::vector<std::int64_t> ranks;
  std::int64_t count = 0;  // including entries that are not numbers
};

RankList ranksOf(od::value value) {
  RankList list;
  eachElement(value, [&](od::value entry) {
    ++list.count;
    if (const OptionalNumber rank = integerOf(entry))
      list.ranks.push_back(*rank);
  });
  return list;
}

void addGroup(od::value entry, ProcessGroups& groups) {
  std::optional<std::string> name;
  std::optional<RankList> list;
  OptionalNumber size;
  eachMember(entry, [&](std::string_view key, od::value value) {
    od::json_type type{};
    if (value.type().get(type) != simdjson::SUCCESS)
      return;
    if (key == "pg_name" && type == od::json_type::string)
      name = textOf(value);
    else if (key == "ranks" && type == od::json_type::array)
      list = ranksOf(value);
    else if (key == "pg_size")
      size = integerOf(value);
  });
  if (!name || !list || size.value_or(list->count) != list->count)
    return;
  const bool whole = static_cast<std::int64_t>(list->ranks.size()) == list->count;
  groups.try_emplace(*std::move(name),
                     whole ? std::move(list->ranks) : std::vector<std::int64_t>());
}

// Unset: the entry does not name the device.
std::optional<DeviceFacts> deviceOf(od::value entry) {
  DeviceFacts device;
  OptionalNumber ordinal;
  std::string kind;
  eachMember(entry, [&](std::string_view key, od::value value) {
    if (key == "id")
      ordinal = integerOf(value);
    else if (key == "host")
      device.host = textOf(value);
    else if (key == "host_id")
      device.hostId = integerOf(value);
    else if (key == "name")
      device.facts.name = textOf(value);
    else if (key == "totalGlobalMem")
      device.facts.memoryBytes = integerOf(value);
    else if (key == "uuid")
      device.facts.uuid = textOf(value);
    else if (key == "kind")
      kind = textOf(value);
  });
  if (!ordinal)
    return {};
  device.ordinal = *ordinal;
  if (!kind.empty())
    device.facts.kind = std::move(kind);
  return device;
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
  DistributedInfo info;
  SmallJson parsed(distributedInfo);
  info.isReadable = parsed.isValid;
  if (!parsed.isValid)
    return info;
  const auto read = [&](od::value value, OptionalNumber& into) {
    into = integerOf(value);
    info.isReadable = info.isReadable && into.has_value();
  };
  eachMember(parsed.document, [&](std::string_view key, od::value value) {
    if (key == "rank")
      read(value, info.rank);
    else if (key == "world_size")
      read(value, info.worldSize);
    else if (key == "pg_config")
      eachElement(value, [&](od::value entry) { addGroup(entry, info.groups); });
  });
  return info;
}

std::vector<DeviceFacts> devicesOf(std::string_view deviceProperties) {
  std::vector<DeviceFacts> devices;
  SmallJson parsed(deviceProperties);
  if (!parsed.isValid)
    return devices;
  eachElement(parsed.document, [&](od::value entry) {
    if (auto device = deviceOf(entry))
      devices.push_back(*std::move(device));
  });
  return devices;
}

}  // namespace sonde::ingest
