// Made-up dumps of PyTorch's NCCL flight recorder, as JSON. For tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace sonde::test {

// An entry. The times are some moments of 2026 unless they are set.
struct FlightCall {
  std::int64_t seq = 1;
  std::string name = "nccl:all_reduce";
  std::string state = "scheduled";
  std::string group = "0";
  std::string input = "[[4,4]]";  // JSON
  std::string output = "[[4,4]]";
  std::string inputType = "Float";
  std::string outputType = "Float";
  std::int64_t messages = 0;     // p2p_seq_id
  std::int64_t completedNs = 0;  // 0: none
};

constexpr std::int64_t kFlightNs = 1'780'000'000'000'000'000;

class FlightDump {
 public:
  explicit FlightDump(std::string version = "2.9") {
    dump_ = {{"version", std::move(version)},
             {"pg_config", nlohmann::json::object()},
             {"pg_status", nlohmann::json::object()},
             {"entries", nlohmann::json::array()}};
  }

  // The local id of the group `name` is 10 more than its name.
  FlightDump& group(const std::string& name, const std::string& ranks, const char* description) {
    dump_["pg_config"][name] = {{"name", name}, {"desc", description}, {"ranks", ranks}};
    return *this;
  }
  FlightDump& status(const std::string& name, std::int64_t enqueued, std::int64_t completed) {
    dump_["pg_status"][localId(name)] = {{"last_enqueued_collective", enqueued},
                                         {"last_started_collective", -1},
                                         {"last_completed_collective", completed}};
    return *this;
  }
  FlightDump& call(const FlightCall& call) {
    using nlohmann::json;
    const bool isMessage = call.name.find(' ') != std::string::npos;
    auto& entries = dump_["entries"];
    json entry = {{"record_id", entries.size()},
                  {"pg_id", std::stoi(localId(call.group))},
                  {"process_group", {call.group, description(call.group)}},
                  {"collective_seq_id", call.seq},
                  {"p2p_seq_id", call.messages},
                  {"op_id", call.seq + call.messages},
                  {"profiling_name", call.name},
                  {"state", call.state},
                  {"is_p2p", isMessage},
                  {"input_sizes", json::parse(call.input)},
                  {"output_sizes", json::parse(call.output)},
                  {"input_dtypes", {call.inputType}},
                  {"output_dtypes", {call.outputType}},
                  {"time_created_ns", kFlightNs + 1000 * static_cast<std::int64_t>(entries.size())},
                  {"time_discovered_started_ns", nullptr},
                  {"time_discovered_completed_ns", nullptr},
                  {"retired", false},
                  {"timeout_ms", 600000}};
    if (call.completedNs != 0)
      entry["time_discovered_completed_ns"] = call.completedNs;
    entries.push_back(std::move(entry));
    return *this;
  }
  nlohmann::json& json() { return dump_; }
  std::string text() const { return dump_.dump(); }

 private:
  static std::string localId(const std::string& name) {
    return std::to_string(std::stoi(name) + 10);
  }
  std::string description(const std::string& name) const {
    const auto found = dump_["pg_config"].find(name);
    return found == dump_["pg_config"].end() ? "undefined" : (*found)["desc"].get<std::string>();
  }

  nlohmann::json dump_;
};

}  // namespace sonde::test
