// Compares the speed of storing a job's spool with a bare prepared insert of the resulting rows.
//
//   ingest_spool SESSION [pairs=5] [folder=.]
//
// SESSION is the spool folder of a recording whose recorder was killed; it is not changed. Each
// pair drains it into a new trace, as `sonde recover` does before it finishes the trace
// (bench/ingest measures indexes and levels of detail), and inserts its slices bare into another.
// They alternate who goes first. Prints rows per second, and the median and range of the pairs'
// ratios.
#include "analysis/store/statement.h"
#include "bench/bare_insert.h"
#include "recorder/drain/drainer.h"

#include <cstdlib>
#include <utility>
#include <vector>

namespace {

using namespace sonde::bench;
using sonde::recorder::Drainer;

Time drain(const fs::path& session, const fs::path& part) {
  sonde::recorder::DrainerOptions options;
  options.folder = session;
  options.part = part;
  options.keepSpool = true;
  const Time start = now();
  const auto drainer = take(Drainer::open(std::move(options)));
  while (drainer->drainOnce().records > 0) {
  }
  return since(start);
}

// The texts outlive the rows: kinds and categories are few.
std::vector<Slice> slicesOf(const fs::path& part) {
  const auto trace = take(sonde::store::reopenTrace(part));
  auto rows =
      take(trace.prepare("SELECT id, thread_id, name_id, start_ns, dur_ns, parent_id, depth,"
                         " lane, scope_id FROM slice ORDER BY id"));
  std::vector<Slice> slices;
  while (take(rows.step())) {
    Slice& slice = slices.emplace_back();
    slice.id.value = rows.integer(0);
    slice.threadId.value = rows.integer(1);
    slice.kind = sonde::model::SliceKind::Operation;
    slice.category = "annotation";
    slice.nameId.value = rows.integer(2);
    slice.startNs = rows.integer(3);
    slice.durNs = rows.integer(4);
    slice.parentId.value = rows.integer(5);
    slice.depth = rows.integer(6);
    slice.lane = rows.integer(7);
    slice.scopeId.value = rows.integer(8);
    slice.scopeHow = sonde::model::ScopeHow::Own;
  }
  return slices;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2)
    fail("name the spool folder of a session");
  const fs::path session = argv[1];
  const int pairs = argc > 2 ? std::atoi(argv[2]) : 5;
  const fs::path folder = argc > 3 ? argv[3] : ".";
  std::vector<Slice> slices;
  const auto runDrain = [&](const fs::path& part, const std::vector<Slice>& rows) {
    const Time taken = drain(session, part);
    if (rows.empty())
      slices = slicesOf(part);
    return taken;
  };
  fresh(folder, runDrain, {});
  fmt::print("{} slices\n", slices.size());
  compareWithBare(folder, slices, pairs, "from the spool", runDrain);
  return 0;
}
