#include "rules/builtin/communication/communication_rules.h"
#include "rules/builtin/device/device_rules.h"
#include "rules/builtin/job/job_rules.h"
#include "rules/builtin/recording/recording_rules.h"
#include "rules/builtin/runs/runs_rules.h"
#include "rules/builtin/system/system_rules.h"
#include "rules/builtin/timing/timing_rules.h"
#include "rules/builtin/training/training_rules.h"
#include "rules/engine/rule.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace sonde::rules {
namespace {

// Every rule about a process has these, with the defaults here unless it states its own.
std::vector<ParameterSpec> commonParameters() {
  return {{"warmup", std::int64_t{0}, "number of first iterations to ignore", 0, 1e9},
          {"patience",
           std::int64_t{0},
           "the rule must have fired at this many iterations before, too",
           0,
           1e6},
          {"patience_s", 0.0, "and for this time in seconds", 0, 1e6}};
}

RuleInfo withCommonParameters(RuleInfo info) {
  if (std::holds_alternative<JobJudge>(info.judge))
    return info;
  for (ParameterSpec& common : commonParameters())
    if (std::none_of(info.parameters.begin(), info.parameters.end(), [&](const auto& own) {
          return own.name == common.name;
        }))
      info.parameters.push_back(std::move(common));
  return info;
}

std::vector<RuleInfo> allRules() {
  std::vector<RuleInfo> all;
  for (auto room : {communicationRules(),
                    deviceRules(),
                    jobRules(),
                    recordingRules(),
                    runsRules(),
                    systemRules(),
                    timingRules(),
                    trainingRules()})
    for (RuleInfo& info : room)
      all.push_back(withCommonParameters(std::move(info)));
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return all;
}

}  // namespace

std::string_view wordOf(Profile profile) {
  return profile == Profile::Ci ? "ci" : "performance";
}

const std::vector<RuleInfo>& builtinRules() {
  static const std::vector<RuleInfo> kRules = allRules();
  return kRules;
}

const RuleInfo* findRule(const std::string& nameOrAlias) {
  const auto& rules = builtinRules();
  const auto found = std::find_if(rules.begin(), rules.end(), [&](const RuleInfo& rule) {
    return rule.name == nameOrAlias || (!rule.alias.empty() && rule.alias == nameOrAlias);
  });
  return found == rules.end() ? nullptr : &*found;
}

}  // namespace sonde::rules
