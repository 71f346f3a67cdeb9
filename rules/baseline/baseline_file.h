// A baseline file: the times of accepted runs, small enough to keep beside the code. `sonde
// baseline accept` writes it, `sonde check --baseline` reads it. JSON, one object, schema 1:
//
//   {"schema": 1, "kind": "sonde-baseline", "created": "2027-01-31T12:00:00Z",
//    "by": ["operation", "kernel"],
//    "hardware": [{"cpu": …, "cores": …, "gpus": [{"name": …, "memory_bytes": …}]}],
//    "runs": [{"name": …, "iterations": …, "ranks": …, "warm_up": …, "partial": …,
//              "costs": {"known": …, "own_run": …, "noise": …, "recorder": …},
//              "subjects": [{"kind": "host", "rank": null, "name": "forward", "error_ns": null,
//                            "ns": [one per iteration]}]}]}
//
// Plain values; any thread.
#pragma once

#include "analysis/engine/diff/hardware.h"
#include "analysis/engine/diff/run_times.h"
#include "base/result.h"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace sonde::rules {

struct BaselineFileRun {
  std::string name;              // of its first trace
  engine::diff::RunTimes times;  // as boundedRuns() gives them
};

struct BaselineFile {
  std::string created;  // UTC: "2027-01-31T12:00:00Z"
  std::vector<std::string> by;
  engine::diff::Hardware hardware;
  std::vector<BaselineFileRun> runs;  // not empty
};

std::string renderBaseline(const BaselineFile& baseline);

// Io, Corrupt: it cannot be read, or anything in it is not as above. The message has the file and
// the path within it.
Result<BaselineFile> readBaselineFile(const std::string& path);
// The same for a document that was read from there.
Result<BaselineFile> readBaselineFile(const std::string& path, const nlohmann::json& document);

}  // namespace sonde::rules
