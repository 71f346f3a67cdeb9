// What a rule is. A rule object watches one entity (a process, a host or the job): it is given each
// closed iteration once, in ascending order, and can be asked for its judgement at any time; a
// later judgement may differ, nothing latches. Live and offline use are the same calls. Not
// thread-safe; one thread uses an object at a time.
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

// One process' part in an iteration that has ended.
struct ProcessStep {
  std::int64_t processId = 0;
  std::int64_t startNs = 0;
  std::int64_t durationNs = 0;
  std::vector<std::pair<std::string, double>>
      scalars;           // in the order of recording; a name may come more than once
  bool isInner = false;  // it lies within another iteration of its thread
};

// An iteration that every process of the entity has closed. A process scope has exactly one part.
struct Step {
  std::int64_t number = 0;
  std::vector<ProcessStep> parts;
};

using StrayScalars = std::map<std::string, std::int64_t>;  // name -> how many values

class Rule {
 public:
  Rule() = default;
  Rule(const Rule&) = delete;
  Rule& operator=(const Rule&) = delete;
  virtual ~Rule() = default;

  virtual void observe(const Step& step) = 0;
  // Scalars that the entity recorded, and that belong to no closed iteration.
  virtual void observeStray(const StrayScalars& scalars) { (void)scalars; }
  virtual Outcome judge() const = 0;
};

enum class Scope { Process, Host, Job };

// Everything about a rule but its state: what `sonde rules` shows and the engine makes rules from.
struct RuleInfo {
  std::string name;   // kebab-case
  std::string alias;  // what SageMaker Debugger calls it
  std::string
      profile;  // "ci": its verdict does not depend on how fast the machine was; else "performance"
  Scope scope = Scope::Process;
  std::string summary;  // one line
  std::string details;  // when exactly it fires, paragraphs
  std::vector<ParameterSpec> parameters;
  std::unique_ptr<Rule> (*make)(const Parameters&) = nullptr;
};

// For RuleInfo::make.
template <typename R>
std::unique_ptr<Rule> makeRule(const Parameters& parameters) {
  return std::make_unique<R>(parameters);
}

// The rules that are part of Sonde, by name.
const std::vector<RuleInfo>& builtinRules();

// nullptr when there is none of that name or alias.
const RuleInfo* findRule(const std::string& nameOrAlias);

}  // namespace sonde::rules
