// Which rules fire for which entities, so that each firing is reported once. Not thread-safe.
#pragma once

#include "rules/engine/check.h"

#include <map>
#include <string>
#include <utility>

namespace sonde::recorder {

class Firings {
 public:
  // Takes the newest result; returns whether the rule began to fire, and no suppression holds.
  bool begins(const rules::CheckResult& result) {
    const rules::Verdict verdict = result.outcome.verdict;
    const auto [known, isNew] = known_.emplace(std::pair(result.rule, result.entity), verdict);
    const bool wasFiring = !isNew && known->second == rules::Verdict::Fired;
    known->second = verdict;
    return verdict == rules::Verdict::Fired && !wasFiring && result.counts();
  }

 private:
  std::map<std::pair<std::string, std::string>, rules::Verdict> known_;  // by rule and entity
};

}  // namespace sonde::recorder
