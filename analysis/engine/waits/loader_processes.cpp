#include "analysis/engine/waits/loader_processes.h"

#include "analysis/store/read_rows.h"

namespace sonde::engine::waits {
namespace {

struct LoaderProcess {
  std::int64_t id = 0;
  std::int64_t nameId = 0;

  SONDE_COLUMNS(id, nameId)
};

// Ordered so that the commonest name is the last one.
constexpr const char* kProcesses =
    "SELECT p.id, s.name_id FROM process p JOIN thread t ON t.process_id = p.parent_id JOIN slice "
    "s ON s.thread_id = t.id AND s.kind = 'data_load' GROUP BY p.id, s.name_id, p.start_ns HAVING "
    "p.id IN (SELECT q.id FROM process q JOIN thread u ON u.process_id = q.parent_id JOIN slice b "
    "ON b.thread_id = u.id AND b.kind = 'data_load' AND q.start_ns BETWEEN b.start_ns AND "
    "b.start_ns + b.dur_ns) ORDER BY p.id, count(*)";

}  // namespace

Result<std::unordered_map<std::int64_t, std::int64_t>> readLoaderProcesses(
    const store::Database& trace) {
  std::unordered_map<std::int64_t, std::int64_t> names;
  SONDE_TRY(store::forEach<LoaderProcess>(
      trace, kProcesses, [&](const LoaderProcess& row) { names[row.id] = row.nameId; }));
  return names;
}

}  // namespace sonde::engine::waits
