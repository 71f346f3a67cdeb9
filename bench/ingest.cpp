// How fast TraceWriter stores slices, against a bare prepared insert of the same rows.
//
//   ingest [rows=1000000] [pairs=11] [folder=.]
//
// Each pair writes the same rows, in one transaction, into two new traces (same schema, page size,
// journal, cache and settings): once through the SQLite API with every value bound where it lies,
// once through TraceWriter. The two take turns in who goes first. Prints rows per second and the
// ratio of each pair: its median and range.
#include "analysis/store/finaliser.h"
#include "analysis/store/trace_file.h"
#include "analysis/store/trace_writer.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using sonde::model::Slice;

// Rows as a recorder makes them: iterations with operations with calls, each written when it ends,
// under the id that it got when it began.
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

[[noreturn]] void fail(const std::string& what) {
  fmt::print(stderr, "ingest: {}\n", what);
  std::exit(1);
}

template <typename T>
T take(sonde::Result<T> result) {
  if (!result)
    fail(result.error().message);
  if constexpr (!std::is_void_v<T>)
    return *std::move(result);
}

struct Time {
  double wallS = 0;
  double cpuS = 0;
};

Time now() {
  timespec cpu{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
  return {
      std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(),
      static_cast<double>(cpu.tv_sec) + static_cast<double>(cpu.tv_nsec) * 1e-9};
}

Time since(const Time& start) {
  const Time end = now();
  return {end.wallS - start.wallS, end.cpuS - start.cpuS};
}

void check(sqlite3* handle, int code) {
  if (code != SQLITE_OK && code != SQLITE_DONE)
    fail(sqlite3_errmsg(handle));
}

void bindId(sqlite3_stmt* insert, int parameter, std::int64_t id) {
  if (id == 0)
    sqlite3_bind_null(insert, parameter);
  else
    sqlite3_bind_int64(insert, parameter, id);
}

void bindWord(sqlite3_stmt* insert, int parameter, std::string_view word) {
  sqlite3_bind_text(insert, parameter, word.data(), static_cast<int>(word.size()), SQLITE_STATIC);
}

void insertBare(sqlite3* handle, const std::vector<Slice>& rows) {
  sqlite3_stmt* insert = nullptr;
  check(handle,
        sqlite3_prepare_v3(handle,
                           "INSERT INTO slice VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                           -1,
                           SQLITE_PREPARE_PERSISTENT,
                           &insert,
                           nullptr));
  check(handle, sqlite3_exec(handle, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr));
  for (const Slice& row : rows) {
    sqlite3_bind_int64(insert, 1, row.id.value);
    sqlite3_bind_int64(insert, 2, row.threadId.value);
    bindWord(insert, 3, sonde::model::word(row.kind));
    bindWord(insert, 4, row.category);
    sqlite3_bind_int64(insert, 5, row.nameId.value);
    sqlite3_bind_int64(insert, 6, row.startNs);
    sqlite3_bind_int64(insert, 7, *row.durNs);
    bindId(insert, 8, row.parentId.value);
    sqlite3_bind_int64(insert, 9, row.depth);
    sqlite3_bind_int64(insert, 10, row.lane);
    bindId(insert, 11, row.scopeId.value);
    bindWord(insert, 12, sonde::model::word(row.scopeHow));
    sqlite3_bind_null(insert, 13);
    sqlite3_bind_null(insert, 14);
    check(handle, sqlite3_step(insert));
    sqlite3_reset(insert);
  }
  check(handle, sqlite3_exec(handle, "COMMIT", nullptr, nullptr, nullptr));
  sqlite3_finalize(insert);
}

std::string pragma(const sonde::store::Database& trace, const char* name) {
  return fmt::format(
      "PRAGMA {} = {};", name, take(trace.queryText(fmt::format("PRAGMA {}", name))));
}

// Through SQLite alone, on a connection with the settings of one made by createTrace.
Time runBare(const fs::path& path, const std::vector<Slice>& rows) {
  std::string settings;
  {
    const auto trace = take(sonde::store::createTrace(path));
    for (const char* name :
         {"synchronous", "wal_autocheckpoint", "cache_size", "ignore_check_constraints"})
      settings += pragma(trace, name);
  }
  sqlite3* handle = nullptr;
  check(
      handle,
      sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr));
  check(handle, sqlite3_exec(handle, settings.c_str(), nullptr, nullptr, nullptr));
  const Time start = now();
  insertBare(handle, rows);
  const Time taken = since(start);
  sqlite3_close(handle);
  return taken;
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

template <typename Run>
Time fresh(const fs::path& folder, Run run, const std::vector<Slice>& rows) {
  const fs::path path = folder / "bench-ingest.part";
  for (const char* suffix : {"", "-wal", "-shm"})
    fs::remove(path.string() + suffix);
  const Time taken = run(path, rows);
  for (const char* suffix : {"", "-wal", "-shm"})
    fs::remove(path.string() + suffix);
  return taken;
}

void report(const char* what, std::vector<double> values) {
  std::sort(values.begin(), values.end());
  fmt::print("{}: median {:.3f}, range {:.3f}–{:.3f}\n",
             what,
             values[values.size() / 2],
             values.front(),
             values.back());
}

// Finishes a trace of these rows and says what that took.
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
  std::vector<double> wall, cpu, bareRate, writerRate;
  for (int pair = 0; pair < pairs; ++pair) {
    Time bare, writer;
    if (pair % 2 == 0)
      bare = fresh(folder, runBare, rows);
    writer = fresh(folder, runWriter, rows);
    if (pair % 2 != 0)
      bare = fresh(folder, runBare, rows);
    wall.push_back(bare.wallS / writer.wallS);
    cpu.push_back(bare.cpuS / writer.cpuS);
    bareRate.push_back(static_cast<double>(rows.size()) / bare.wallS / 1e6);
    writerRate.push_back(static_cast<double>(rows.size()) / writer.wallS / 1e6);
  }
  fmt::print("{} slices, {} pairs\n", rows.size(), pairs);
  report("bare insert, 10^6 rows/s", bareRate);
  report("TraceWriter, 10^6 rows/s", writerRate);
  report("ratio of rates by wall time", wall);
  report("ratio of rates by CPU time", cpu);
  runFinaliser(folder, rows);
}
