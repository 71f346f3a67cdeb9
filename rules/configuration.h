// Which rules run, how much each matters and with what parameters: from sonde.toml, or the
// defaults. Plain values.
//
//   [rules]
//   step-outlier = "error"                       # off, info, warning or error
//   loss-not-decreasing = { severity = "error", scalar = "train/loss", window = 200 }
//
// With a file only the rules it names run; without one all built-in rules run as warnings. The
// profile "ci" makes both kinds of default an error and, without a file, leaves only the rules
// whose verdict does not depend on the machine.
#pragma once

#include "base/result.h"
#include "rules/rule.h"

#include <string>
#include <string_view>
#include <vector>

namespace sonde::rules {

struct ConfiguredRule {
  const RuleInfo* info;
  Severity severity = Severity::Warning;  // never Off
  Parameters parameters;
};

using Configuration = std::vector<ConfiguredRule>;

// The profiles that `--profile` takes, and their rules. InvalidArgument for an unknown one; "" is
// all rules as warnings.
Result<Configuration> defaultConfiguration(std::string_view profile);

// The patterns of [communication] kernels = ["my_allreduce*"]: names of kernels that communicate.
// The file may have [rules], too, which are not looked at. Errors as readConfiguration().
Result<std::vector<std::string>> readCommunication(const std::string& path);

// InvalidArgument with "FILE:LINE:COLUMN: what: what to do" for anything in it that is not
// understood; NotFound when it cannot be read.
Result<Configuration> readConfiguration(const std::string& path, std::string_view profile);

// The same from text; `path` is for messages.
Result<Configuration> parseConfiguration(std::string_view text,
                                         const std::string& path,
                                         std::string_view profile);

}  // namespace sonde::rules
