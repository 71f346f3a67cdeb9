// The interface of rules. A rule object watches one entity (a process, a host or the job). It gets
// each completed iteration once, in ascending order, and can judge at any time; later judgements
// may differ. Live and offline use are the same calls. Not thread-safe: one thread uses an object
// at a time.
#pragma once

#include "rules/parameters.h"
#include "rules/verdict.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sonde::rules {

// The part of one process in a completed iteration.
struct ProcessStep {
  std::int64_t processId = 0;
  std::int64_t startNs = 0;
  std::int64_t durationNs = 0;
  std::vector<std::pair<std::string, double>> scalars;  // in recording order; names may repeat
  bool isInner = false;  // it is inside another iteration of its thread
};

// An iteration that every process of the entity has completed. With scope Process it has one part.
struct Step {
  std::int64_t number = 0;
  std::vector<ProcessStep> parts;
};

using StrayScalars = std::map<std::string, std::int64_t>;  // name -> number of values

class Rule {
 public:
  Rule() = default;
  Rule(const Rule&) = delete;
  Rule& operator=(const Rule&) = delete;
  virtual ~Rule() = default;

  virtual void observe(const Step& step) = 0;
  // Scalars of the entity that belong to no completed iteration.
  virtual void observeStray(const StrayScalars& scalars) { (void)scalars; }
  virtual Outcome judge() const = 0;
};

enum class Scope { Process, Host, Job };

// The definition of a rule, for `sonde rules` and for making rule objects.
struct RuleInfo {
  std::string name;   // kebab-case
  std::string alias;  // SageMaker Debugger's name
  std::string
      profile;  // "ci": its verdict does not depend on the machine's speed; else "performance"
  Scope scope = Scope::Process;
  std::string summary;  // one line
  std::string details;  // exactly when it fires, in paragraphs
  std::vector<ParameterSpec> parameters;
  std::unique_ptr<Rule> (*make)(const Parameters&) = nullptr;
};

// For RuleInfo::make.
template <typename R>
std::unique_ptr<Rule> makeRule(const Parameters& parameters) {
  return std::make_unique<R>(parameters);
}

// Sonde's own rules, by name.
const std::vector<RuleInfo>& builtinRules();

// nullptr: no rule has that name or alias.
const RuleInfo* findRule(const std::string& nameOrAlias);

}  // namespace sonde::rules
