// Compares, while a job is recorded, the verdicts of facts that grow with those of facts that are
// read anew from the same state. Usage:
//   live_agreement PART
// PART is the unfinished trace of a recording. Ends when the recording has, and prints the number
// of states and of results that were compared, and each result that differed.
#include "analysis/store/database.h"
#include "rules/configuration/configuration.h"
#include "rules/engine/check.h"
#include "rules/reporters/reporters.h"
#include "tests/support/trace_builder.h"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <thread>

#include <nlohmann/json.hpp>

namespace {

using namespace sonde;
using nlohmann::json;

struct Compared {
  long states = 0;
  long results = 0;
  long fired = 0;
  long different = 0;
};

// By rule and entity.
std::map<std::string, json> resultsOf(const rules::CheckReport& report) {
  std::map<std::string, json> results;
  const json all = json::parse(rules::renderJson(report));
  for (const json& each : all["results"])
    results[each["rule"].get<std::string>() + " " + each["entity"].get<std::string>()] = each;
  return results;
}

void compare(const rules::CheckReport& grown, const rules::CheckReport& anew, Compared& sums) {
  const auto live = resultsOf(grown);
  const auto offline = resultsOf(anew);
  ++sums.states;
  sums.different += live.size() == offline.size() ? 0 : 1;
  for (const auto& [name, result] : offline) {
    ++sums.results;
    sums.fired += result["verdict"] == "fired" ? 1 : 0;
    const auto same = live.find(name);
    if (same != live.end() && same->second == result)
      continue;
    ++sums.different;
    std::printf("differs: %s\n  live    %s\n  offline %s\n",
                name.c_str(),
                same == live.end() ? "-" : same->second.dump().c_str(),
                result.dump().c_str());
  }
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) {
    std::fprintf(stderr, "usage: live_agreement PART\n");
    return 2;
  }
  const std::filesystem::path part = words[1];
  while (!std::filesystem::exists(part))
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  auto trace = test::must(store::Database::open(part, store::Access::ReadOnly));
  const auto configuration = test::must(rules::defaultConfiguration(""));
  const std::string today = rules::todayInUtc();
  rules::Facts growing(trace);
  Compared sums;
  while (std::filesystem::exists(part)) {
    {
      const auto snapshot = test::must(store::Transaction::begin(trace));
      if (!growing.refresh())
        break;
      const rules::CheckReport grown = rules::judge(growing, configuration, today);
      rules::Facts fresh(trace);
      compare(grown, rules::judge(fresh, configuration, today), sums);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
  }
  std::printf("{\"states\": %ld, \"results\": %ld, \"fired\": %ld, \"different\": %ld}\n",
              sums.states,
              sums.results,
              sums.fired,
              sums.different);
  return sums.different == 0 ? 0 : 1;
}
