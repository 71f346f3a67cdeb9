// Compares TraceWriter's speed of storing slices with a bare prepared insert of the same rows.
//
//   ingest [rows=1000000] [pairs=11] [folder=.]
//
// Each pair writes the same rows, in one transaction, into two new traces (same schema, page size,
// journal, cache and settings): once through the SQLite API with every value bound in place, once
// through TraceWriter. They alternate who goes first. Prints rows per second, and the median and
// range of the pairs' ratios.
#include "analysis/finalise/finaliser.h"
#include "analysis/store/trace_file.h"
#include "analysis/store/trace_writer.h"
#include "bench/bare_insert.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <vector>

namespace {

using namespace sonde::bench;

// Rows in a recorder's order: iterations with operations with calls, each written at its end under
// the id that it got at its begin.
std::vector<Slice> makeRows(std::int64_t count) {
  constexpr std::int64_t kCallsPerOperation = 8;
  constexpr std::int64_t kOperationsPerIteration = 20;
  std::vector<Slice> rows;
  rows.reserve(static_cast<std::size_t>(count) + 256);
  std::int64_t id = 1;
  std::int64_t now = 1'700'000'000'000'000'000;
  const auto slice =
      [&](std::int64_t own, std::int64_t parent, std::int64_t depth, std::int64_t start) {
        Slice row;
        row.id = sonde::model::SliceId{own};
        row.threadId = sonde::model::ThreadId{1};
        row.category = "torch";
        row.nameId = sonde::model::StringId{own % 200 + 1};
        row.startNs = start;
        row.durNs = now - start;
        row.parentId = row.scopeId = sonde::model::SliceId{parent};
        row.depth = depth;
        row.scopeHow = parent == 0 ? sonde::model::ScopeHow::None : sonde::model::ScopeHow::Own;
        return row;
      };
  const auto addCalls = [&](std::int64_t operation) {
    for (std::int64_t call = 0; call < kCallsPerOperation; ++call) {
      const std::int64_t start = now;
      now += 1'000 + id % 977;
      Slice row = slice(id++, operation, 2, start);
      row.kind = sonde::model::SliceKind::Api;
      rows.push_back(row);
    }
  };
  while (static_cast<std::int64_t>(rows.size()) < count) {
    const std::int64_t iteration = id++;
    const std::int64_t iterationStart = now;
    for (std::int64_t i = 0; i < kOperationsPerIteration; ++i) {
      const std::int64_t operation = id++;
      const std::int64_t operationStart = now;
      addCalls(operation);
      rows.push_back(slice(operation, iteration, 1, operationStart));
    }
    rows.push_back(slice(iteration, 0, 0, iterationStart));
    rows.back().kind = sonde::model::SliceKind::Iteration;
  }
  return rows;
}

Time runWriter(const fs::path& path, const std::vector<Slice>& rows) {
  auto writer = take(sonde::store::TraceWriter::open(take(sonde::store::createTrace(path))));
  const Time start = now();
  take(writer.begin());
  for (const Slice& row : rows)
    (void)take(writer.add(row));
  take(writer.commit());
  return since(start);
}

// Finishes a trace of these rows and prints the time it took.
void runFinaliser(const fs::path& folder, const std::vector<Slice>& rows) {
  const fs::path path = folder / "bench-ingest.part";
  auto writer = take(sonde::store::TraceWriter::open(take(sonde::store::createTrace(path))));
  take(writer.begin());
  (void)take(writer.add(sonde::model::Host{{}, "host"}));
  sonde::model::Process process;
  process.hostId = sonde::model::HostId{1};
  (void)take(writer.add(process));
  (void)take(writer.add(sonde::model::Thread{{}, sonde::model::ProcessId{1}, 1}));
  for (const Slice& row : rows)
    (void)take(writer.add(row));
  auto trace = take(sonde::store::TraceWriter::release(std::move(writer)));
  (void)take(trace.queryInteger("PRAGMA wal_checkpoint(TRUNCATE)"));
  const auto recorded = fs::file_size(path);
  const Time start = now();
  take(sonde::store::finalise(std::move(trace)));
  const Time taken = since(start);
  const auto finished = take(sonde::store::openTrace(path));
  fmt::print(
      "finalise: {:.2f} s wall, {:.2f} s CPU; {:.1f} bytes a slice before, {:.1f} after; {} lod "
      "rows\n",
      taken.wallS,
      taken.cpuS,
      static_cast<double>(recorded) / static_cast<double>(rows.size()),
      static_cast<double>(fs::file_size(path)) / static_cast<double>(rows.size()),
      take(finished.queryInteger("SELECT count(*) FROM lod")));
  fs::remove(path);
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t count = argc > 1 ? std::atoll(argv[1]) : 1'000'000;
  const int pairs = argc > 2 ? std::atoi(argv[2]) : 11;
  const fs::path folder = argc > 3 ? argv[3] : ".";
  const std::vector<Slice> rows = makeRows(count);
  fmt::print("{} slices, {} pairs\n", rows.size(), pairs);
  compareWithBare(folder, rows, pairs, "TraceWriter", runWriter);
  runFinaliser(folder, rows);
}
