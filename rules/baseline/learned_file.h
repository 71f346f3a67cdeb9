// A file of learned invariants: `sonde baseline learn` writes it, `sonde check --baseline` reads
// it. JSON, one object, schema 1:
//
//   {"schema": 1, "kind": "sonde-learned", "created": "2027-01-31T12:00:00Z",
//    "runs": [names], "iterations": …, "dropped": {kind: {reason: count}},
//    "invariants": [{"kind": "calls", "subject": …, "measure": …, "source": …, "samples": …,
//                    and one of
//                    "one_of": {"values": [texts], "from": iteration}
//                    "path": {"first": iteration, "values": [number or null, one per iteration]}
//                    "law": {"first": iteration, "factors": [[3 numbers] or null]}
//                    "range": [[first iteration, last iteration, low, high], …]}]}
//
// Plain values; any thread.
#pragma once

#include "base/result.h"
#include "rules/learned/invariants.h"

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace sonde::rules {

inline constexpr std::string_view kLearnedKind = "sonde-learned";

struct LearnedFile {
  std::string created;  // UTC: "2027-01-31T12:00:00Z"
  LearnedInvariants learned;
};

std::string renderLearned(const LearnedFile& file);

// Corrupt: anything in the document is not as above. The message has the file and the path within
// it.
Result<LearnedFile> readLearnedFile(const std::string& path, const nlohmann::json& document);

}  // namespace sonde::rules
