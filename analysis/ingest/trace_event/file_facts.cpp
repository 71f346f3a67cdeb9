#include "analysis/ingest/trace_event/file_facts.h"

#include "analysis/ingest/input/decimal_time.h"

#include <nlohmann/json.hpp>

namespace sonde::ingest {
namespace {

using nlohmann::json;

json parsed(std::string_view text) {
  return json::parse(text, nullptr, false);  // what is not JSON is "discarded", which is no object
}

OptionalNumber integerAt(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer())
    return {};
  return found->get<std::int64_t>();
}

}  // namespace

OptionalNumber baseTimeOf(std::string_view baseTimeNanoseconds) {
  const std::size_t end = baseTimeNanoseconds.find_last_not_of(" \t\r\n");
  if (end == std::string_view::npos)
    return {};
  const OptionalNumber base = scaledDecimal(baseTimeNanoseconds.substr(0, end + 1), 0);
  return base && isTime(*base) ? base : OptionalNumber();
}

DistributedInfo distributedInfoOf(std::string_view distributedInfo) {
  const json info = parsed(distributedInfo);
  if (!info.is_object())
    return {};
  return {integerAt(info, "rank"), integerAt(info, "world_size")};
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
    const auto name = entry.find("name");
    if (name != entry.end() && name->is_string())
      device.name = name->get<std::string>();
    device.memoryBytes = integerAt(entry, "totalGlobalMem");
    devices.push_back(std::move(device));
  }
  return devices;
}

}  // namespace sonde::ingest
