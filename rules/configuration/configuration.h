// The rules to run, with their severities and parameters: from sonde.toml, or the defaults. Plain
// values.
//
//   [rules]
//   step-outlier = "error"                       # off, info, warning or error
//   loss-not-decreasing = { severity = "error", scalar = "train/loss", window = 200 }
//
//   [sql.long-kernels]                           # a rule in SQL: each row is a finding
//   query = "SELECT 'rank ' || rank AS entity, max(dur_ns) AS value FROM v_kernel
//            WHERE dur_ns > :limit GROUP BY rank"
//   parameters = { limit = 1_000_000 }
//
//   [[suppress]]
//   rule = "step-outlier"
//   entity = "rank 3"                            # left out: all
//   reason = "this node is being repaired"
//   until = 2027-01-31                           # the last day
//
// With a file only the rules in it run. Without a file all built-in rules run as warnings. The
// profiles "ci" and "production" turn the default severity into error; without a file a profile
// also chooses the rules.
#pragma once

#include "base/result.h"
#include "rules/engine/check.h"

#include <string>
#include <string_view>
#include <vector>

namespace sonde::rules {

// The rules of a profile (option `--profile`); "" means all rules as warnings. Rules about earlier
// runs are left out unless `hasBaseline`; then they run in any profile. InvalidArgument: unknown
// profile.
Result<Configuration> defaultConfiguration(std::string_view profile, bool hasBaseline = false);

// The patterns of [communication] kernels = ["my_allreduce*"]: names of kernels that communicate.
// Ignores all other tables of a rules file. Errors as readConfiguration().
Result<std::vector<std::string>> readCommunication(const std::string& path);

// InvalidArgument, with "FILE:LINE:COLUMN: what: what to do": the file has something invalid.
// NotFound: it cannot be read.
Result<Configuration> readConfiguration(const std::string& path, std::string_view profile);

// The same from text; `path` is for messages.
Result<Configuration> parseConfiguration(std::string_view text,
                                         const std::string& path,
                                         std::string_view profile);

}  // namespace sonde::rules
