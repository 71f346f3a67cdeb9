// Compiled rules of users: shared objects against sonde_rule.h. Each judgement runs in a process of
// its own, which is this program once more, so that a faulty rule harms nobody. Plain functions;
// any thread, but one at a time loads.
#pragma once

#include "base/result.h"
#include "rules/engine/rule.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <vector>

namespace sonde::rules {

// The name (argv[0]) under which the program runs to judge: it calls judgeAsOwnProgram() then, and
// does nothing else.
inline constexpr const char* kJudgeProgram = "sonde-judge-rule";

// How long a judgement may take.
inline constexpr std::chrono::seconds kPluginLimit{10};

// The rules of a shared object, which stays loaded. InvalidArgument: it is no plugin with rules, or
// one that this Sonde cannot use; the message names the file, the fault and the remedy. Requires:
// the program is `sonde`, or another one that runs as kJudgeProgram.
Result<std::vector<std::shared_ptr<const RuleInfo>>> loadPluginRules(
    const std::filesystem::path& path);

// Judges as the request on standard input says, and prints the result. The output of the plugin
// goes to stderr.
void judgeAsOwnProgram();

}  // namespace sonde::rules
