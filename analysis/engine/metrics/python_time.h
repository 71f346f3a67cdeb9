// Where the time of threads that run Python went, from the probe `python`: the interpreter, native
// code of frameworks, simulators and others, and waits. Plain values; reading uses the database's
// thread.
//
// At each instant the thread's innermost slice decides. All that a native function does belongs to
// it, except Python code that it calls back and that makes calls or annotations: then those count.
// Waits, collectives and calls on files only count if no native function made them.
#pragma once

#include "analysis/engine/intervals/intervals.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::metrics {

enum class CodePart : std::uint8_t { Python, Framework, Simulator, Other, Waiting };
inline constexpr std::size_t kCodeParts = 5;
inline constexpr std::array<const char*, kCodeParts> kCodePartNames = {
    "python", "framework", "simulator", "other", "waiting"};

// The time of one operation or other named part of the program, over all threads of the process.
struct PythonTime {
  std::optional<std::int64_t> rank;
  std::int64_t processId = 0;
  std::string kind;  // phase, operation, forward, …; empty: outside all of them
  std::string name;
  std::int64_t wallNs = 0;                         // the sum of the parts
  std::array<std::int64_t, kCodeParts> ns{};       // by CodePart
  std::array<std::int64_t, kCodeParts> entered{};  // how often Python code entered each part
};

// Covers processes that recorded native calls. Uses their threads with annotations or native calls,
// from the first of these to the last. Ordered by process, then longest first. Memory grows with
// the number of simultaneously open slices.
Result<std::vector<PythonTime>> pythonTimes(const store::Database& trace);

// The arithmetic of pythonTimes() for one thread.
class PythonSweep {
 public:
  static constexpr std::size_t kInherited = ~std::size_t{0};

  struct Slice {
    Interval time;
    CodePart part = CodePart::Python;
    bool isNative = false;               // the part is native code, or a wait
    std::size_t operation = kInherited;  // the operation that it begins
  };
  struct Total {
    std::array<std::int64_t, kCodeParts> ns{};
    std::array<std::int64_t, kCodeParts> entered{};
  };

  // Requires: ordered by begin, outer ones first. A slice that ends after the one around it counts
  // to its own end.
  void add(const Slice& slice);
  // By operation; the last entry is outside of all. `operations`: their number.
  std::vector<Total> finish(std::size_t operations);

 private:
  struct Open {
    std::int64_t endNs;
    CodePart part;
    std::size_t operation;
    bool isNative;
  };

  void passUntil(std::int64_t ns);
  void count(std::int64_t untilNs);
  Total& totalOf(std::size_t operation);

  std::vector<Open> open_;
  std::vector<Total> totals_;
  Total outside_;
  std::optional<std::int64_t> nowNs_;
  std::int64_t lastNs_ = 0;
};

}  // namespace sonde::engine::metrics
