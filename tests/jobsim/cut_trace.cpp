#include "tests/jobsim/cut_trace.h"

#include "analysis/store/database.h"
#include "tests/support/trace_builder.h"

#include <fmt/format.h>

namespace sonde::jobsim {

void cutTrace(const std::string& path, Ns ns) {
  store::Database trace = test::must(store::Database::open(path, store::Access::ReadWrite));
  test::must(trace.exec("PRAGMA foreign_keys = OFF"));
  test::must(trace.exec(fmt::format(
      "INSERT INTO open_call(process_id, thread_id, depth, kind, category, name_id, start_ns,"
      " seen_ns, slice_id) SELECT t.process_id, s.thread_id, s.depth, s.kind, s.category,"
      " s.name_id, s.start_ns, {0}, s.id FROM slice s JOIN thread t ON t.id = s.thread_id WHERE"
      " s.kind = 'iteration' AND s.start_ns <= {0} AND s.start_ns + s.dur_ns > {0}",
      ns)));
  for (const char* table : {"iteration", "slice", "kernel", "copy", "collective", "sync"})
    test::must(trace.exec(fmt::format("DELETE FROM {} WHERE start_ns + dur_ns > {}", table, ns)));
  test::must(trace.exec(
      fmt::format("UPDATE process SET state = 'running', exit_status = NULL, end_ns = {}", ns)));
}

}  // namespace sonde::jobsim
