// Rules that users write in SQL: each row of a SELECT is a finding. Any thread.
#pragma once

#include "analysis/store/query/user_query.h"
#include "base/result.h"
#include "rules/engine/rule.h"

#include <memory>
#include <string>

namespace sonde::rules {

struct SqlRule {
  std::string name;
  std::string summary;
  std::string hint;
  store::UserQuery query;
  // A SELECT whose first value must not be 0 or NULL: else the rule has too little data. Empty:
  // there is always enough.
  std::string needsData;
};

// The columns `entity`, `message`, `value` and `threshold` of a row are those of the finding; all
// others are evidence. Without a row the rule passes. InvalidArgument: a statement is wrong.
Result<std::shared_ptr<const RuleInfo>> makeSqlRule(const SqlRule& rule);

}  // namespace sonde::rules
