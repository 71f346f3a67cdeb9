// Events of synthetic files for field_*_test.cpp.
#pragma once

#include "tests/ingest/trace_event/trace_event_fixture.h"

#include <fmt/format.h>

#include <string>

namespace sonde::ingest {

// The place of an event: its process and thread, its begin and end.
struct At {
  std::string pid = "100";
  int tid = 100;
  double ts = 0;
  double dur = 0;
};

inline std::string event(const std::string& category,
                         const std::string& name,
                         const At& at,
                         const std::string& args = "") {
  const std::string cat = category.empty() ? "" : R"("cat": ")" + category + R"(", )";
  return fmt::format(
      R"({{"ph": "X", {}"name": "{}", "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {{{}}}}})",
      cat,
      name,
      at.pid,
      at.tid,
      at.ts,
      at.dur,
      args);
}

inline std::string annotation(const std::string& name, const At& at) {
  return event("user_annotation", name, at);
}
inline std::string launch(int correlation, const At& at) {
  return event(
      "cuda_runtime", "cudaLaunchKernel", at, fmt::format(R"("correlation": {})", correlation));
}
inline std::string kernel(const std::string& name, int correlation, double ts, double dur) {
  return event("kernel",
               name,
               {"0", 7, ts, dur},
               fmt::format(R"("device": 0, "stream": 7, "correlation": {})", correlation));
}

class FieldFaults : public TraceEventImporterTest {
 protected:
  // "KERNEL:OPERATION" for each kernel by name; "-": no operation.
  std::string operations(const std::string& table = "kernel") {
    return rows(fmt::format(
        "WITH RECURSIVE up(work, id) AS (SELECT id, scope_id FROM {0} UNION ALL SELECT u.work, "
        "s.scope_id FROM up u JOIN slice s ON s.id = u.id WHERE s.kind NOT IN ('operation', "
        "'iteration')) SELECT n.text || ':' || coalesce((SELECT o.text FROM up u JOIN slice s ON "
        "s.id = u.id JOIN string o ON o.id = s.name_id WHERE u.work = k.id AND s.kind IN "
        "('operation', 'iteration')), '-') AS concat_row FROM {0} k JOIN string n ON n.id = "
        "k.name_id ORDER BY n.text",
        table));
  }
};

}  // namespace sonde::ingest
