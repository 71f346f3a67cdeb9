// Where the time of threads that run Python went, by the probe `python`: in the interpreter, in
// native code of frameworks, of simulators and of others, and in waits. Plain values; reading uses
// the database's thread.
//
// At each instant the innermost slice of the thread decides. What a native function does while it
// runs is its own, but for Python code that it calls back and that calls or annotates again: that
// call or annotation is what counts. Of waits, collectives and calls on files only those are shown
// that no native function made.
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

// Of one operation, or another named part of the program; of all threads of the process.
struct PythonTime {
  std::optional<std::int64_t> rank;
  std::int64_t processId = 0;
  std::string kind;  // phase, operation, forward, …; empty: outside all of them
  std::string name;
  std::int64_t wallNs = 0;                         // the sum of the parts
  std::array<std::int64_t, kCodeParts> ns{};       // by CodePart
  std::array<std::int64_t, kCodeParts> entered{};  // how often Python code entered each
};

// Of all processes that recorded native calls, on their threads that have annotations or native
// calls: from the first of these to the last. In the order of the processes, the longest first.
// Memory grows with the slices that are open at once.
Result<std::vector<PythonTime>> pythonTimes(const store::Database& trace);

// The arithmetic of pythonTimes(), for one thread.
class PythonSweep {
 public:
  static constexpr std::size_t kInherited = ~std::size_t{0};

  struct Slice {
    Interval time;
    CodePart part = CodePart::Python;
    bool isNative = false;               // the part is that of native code, or of a wait
    std::size_t operation = kInherited;  // that it begins
  };
  struct Total {
    std::array<std::int64_t, kCodeParts> ns{};
    std::array<std::int64_t, kCodeParts> entered{};
  };

  // In the order of their begins, those around others first. One that ends after what is around it
  // counts until that ends.
  void add(const Slice& slice);
  // By operation; the last one is what was outside of all. `operations`: how many there are.
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
