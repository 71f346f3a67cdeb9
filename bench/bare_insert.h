// The common part of the storing benches: a clock, and a bare prepared insert of slices.
#pragma once

#include "analysis/model/event.h"
#include "analysis/store/trace_file.h"

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
#include <string_view>
#include <vector>

namespace sonde::bench {

namespace fs = std::filesystem;
using model::Slice;

[[noreturn]] inline void fail(const std::string& what) {
  fmt::print(stderr, "bench: {}\n", what);
  std::exit(1);
}

template <typename T>
T take(Result<T> result) {
  if (!result)
    fail(result.error().message);
  if constexpr (!std::is_void_v<T>)
    return *std::move(result);
}

struct Time {
  double wallS = 0;
  double cpuS = 0;
};

inline Time now() {
  timespec cpu{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
  return {
      std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(),
      static_cast<double>(cpu.tv_sec) + static_cast<double>(cpu.tv_nsec) * 1e-9};
}

inline Time since(const Time& start) {
  const Time end = now();
  return {end.wallS - start.wallS, end.cpuS - start.cpuS};
}

inline void check(sqlite3* handle, int code) {
  if (code != SQLITE_OK && code != SQLITE_DONE)
    fail(sqlite3_errmsg(handle));
}

inline void bindId(sqlite3_stmt* insert, int parameter, std::int64_t id) {
  if (id == 0)
    sqlite3_bind_null(insert, parameter);
  else
    sqlite3_bind_int64(insert, parameter, id);
}

inline void bindWord(sqlite3_stmt* insert, int parameter, std::string_view word) {
  sqlite3_bind_text(insert, parameter, word.data(), static_cast<int>(word.size()), SQLITE_STATIC);
}

inline void insertBare(sqlite3* handle, const std::vector<Slice>& rows) {
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
    bindWord(insert, 3, model::word(row.kind));
    bindWord(insert, 4, row.category);
    sqlite3_bind_int64(insert, 5, row.nameId.value);
    sqlite3_bind_int64(insert, 6, row.startNs);
    sqlite3_bind_int64(insert, 7, *row.durNs);
    bindId(insert, 8, row.parentId.value);
    sqlite3_bind_int64(insert, 9, row.depth);
    sqlite3_bind_int64(insert, 10, row.lane);
    bindId(insert, 11, row.scopeId.value);
    bindWord(insert, 12, model::word(row.scopeHow));
    sqlite3_bind_null(insert, 13);
    sqlite3_bind_null(insert, 14);
    check(handle, sqlite3_step(insert));
    sqlite3_reset(insert);
  }
  check(handle, sqlite3_exec(handle, "COMMIT", nullptr, nullptr, nullptr));
  sqlite3_finalize(insert);
}

inline std::string pragma(const store::Database& trace, const char* name) {
  return fmt::format(
      "PRAGMA {} = {};", name, take(trace.queryText(fmt::format("PRAGMA {}", name))));
}

// Inserts through SQLite alone, on a connection with the settings of createTrace().
inline Time runBare(const fs::path& path, const std::vector<Slice>& rows) {
  std::string settings;
  {
    const auto trace = take(store::createTrace(path));
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

inline void report(std::string_view what, std::vector<double> values) {
  std::sort(values.begin(), values.end());
  fmt::print("{}: median {:.3f}, range {:.3f}–{:.3f}\n",
             what,
             values[values.size() / 2],
             values.front(),
             values.back());
}

// Alternates the order, so that both see the same machine. Prints their rates, and `other`'s as
// multiples of the bare insert's.
template <typename Other>
void compareWithBare(const fs::path& folder,
                     const std::vector<Slice>& rows,
                     int pairs,
                     std::string_view name,
                     Other other) {
  std::vector<double> wall, cpu, bareRate, otherRate;
  for (int pair = 0; pair < pairs; ++pair) {
    Time bare, measured;
    if (pair % 2 == 0)
      bare = fresh(folder, runBare, rows);
    measured = fresh(folder, other, rows);
    if (pair % 2 != 0)
      bare = fresh(folder, runBare, rows);
    wall.push_back(bare.wallS / measured.wallS);
    cpu.push_back(bare.cpuS / measured.cpuS);
    bareRate.push_back(static_cast<double>(rows.size()) / bare.wallS / 1e6);
    otherRate.push_back(static_cast<double>(rows.size()) / measured.wallS / 1e6);
  }
  report("bare insert, 10^6 rows/s", bareRate);
  report(fmt::format("{}, 10^6 rows/s", name), otherRate);
  report("ratio of rates by wall time", wall);
  report("ratio of rates by CPU time", cpu);
}

}  // namespace sonde::bench
