// A rule: its name, its parameters, and a function that judges. A function sees all facts and keeps
// no state, so that a live recording, a finished trace, and one cut at any time give the same
// verdict for the same facts.
#pragma once

#include "base/result.h"
#include "rules/engine/parameters.h"
#include "rules/engine/verdict.h"
#include "rules/facts/facts.h"
#include "rules/facts/process_facts.h"

#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace sonde::rules {

// Judges one process by its iterations. It gets the iterations after the warm-up.
using ProcessJudge = std::function<Outcome(const ProcessView&, const Parameters&)>;
// Judges the job: a finding for each culprit, or one for "job". An error becomes the verdict error.
using JobJudge = std::function<Result<std::vector<Finding>>(Facts&, const Parameters&)>;

enum class Profile {
  Ci,           // the verdict does not depend on the machine's speed
  Performance,  // it does
};
std::string_view wordOf(Profile profile);

// When a rule runs that no file names.
enum class RunsByItself {
  Always,
  WithBaseline,  // if there are earlier runs to compare with; then in all profiles
  Never,         // because it would fire for healthy runs, too
};

struct RuleInfo {
  std::string name;   // kebab-case
  std::string alias;  // SageMaker Debugger's name; empty: it has no such rule
  Profile profile = Profile::Performance;
  bool isForProduction = false;  // also in profile `production`: cheap, and a reason to stop a job
  bool comparesRanks = false;    // needs the traces of all ranks of a job
  std::string summary;           // when it fires, one line
  std::string details;           // exactly when it fires, in paragraphs
  // Most runs do not record its input. If no file names the rule, an insufficient verdict for that
  // reason does not count.
  bool isOptional = false;
  RunsByItself runsByItself = RunsByItself::Always;
  std::string needs;              // the probes that record its input, for `sonde run --sources`
  std::string hint;               // what to do when it fired
  std::vector<std::string> next;  // commands that show more; TRACE stands for the trace
  std::vector<ParameterSpec> parameters;
  std::variant<ProcessJudge, JobJudge> judge;
};

// Sonde's own rules, by name. Rules about a process have the parameters `warmup`, `patience` and
// `patience_s` in addition to their own.
const std::vector<RuleInfo>& builtinRules();

// nullptr: no rule has that name or alias.
const RuleInfo* findRule(const std::string& nameOrAlias);

}  // namespace sonde::rules
