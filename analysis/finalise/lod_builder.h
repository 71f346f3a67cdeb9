// The level-of-detail pyramid of one line: the arithmetic, without the database. Plain values and
// objects of one thread.
//
// A line is one row of a timeline: events that follow each other without overlap, sorted by start.
// Level k has buckets of width 2^k ns. An event at least that long keeps its own row. Shorter ones
// are summed up in the bucket [i·2^k, (i+1)·2^k) in which they start. So the rows of a level are
// also sorted and disjoint, and a window of n widths holds at most 2n + 2 of them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sonde::store {

struct LineEvent {
  std::int64_t id = 0;
  std::int64_t startNs = 0;
  std::int64_t durNs = 0;
  std::int64_t nameId = 0;
  std::int64_t bytes = 0;
  std::string kind;
};

struct LodRow {
  int level = 0;
  std::int64_t startNs = 0;
  std::int64_t endNs = 0;
  std::int64_t busyNs = 0;
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  // From the longest event; the first of several.
  std::int64_t eventId = 0;
  std::int64_t nameId = 0;
  std::string kind;
};

inline constexpr int kFirstLevel = 10;  // 1 µs: recorded calls are rarely denser
inline constexpr int kLevelStep = 2;
inline constexpr int kLevelCount = 20;  // up to 2^48 ns, three days
// The number of events in 256 widths that a reader can take one by one.
inline constexpr std::int64_t kMaxEventsPerWindow = 4096;

constexpr int levelAt(int index) noexcept {
  return kFirstLevel + index * kLevelStep;
}

struct LevelRange {
  int min = 0;
  int max = 0;
};

// Reads a line's events once, in order, to choose the levels to build.
class LineSurvey {
 public:
  void add(std::int64_t startNs, std::int64_t endNs);
  // The end of the line, if the ends passed to add() were not the events'.
  void endAt(std::int64_t endNs) noexcept { endNs_ = endNs; }

  std::int64_t count() const noexcept { return count_; }
  std::int64_t startNs() const noexcept { return startNs_; }
  std::int64_t endNs() const noexcept { return endNs_; }
  // The levels to build. The finest is the coarsest level below which events themselves can be
  // read: at most kMaxEventsPerWindow in any 256 aligned widths. The coarsest shows the whole line
  // in 256 widths. Unset: the events themselves can always be read.
  std::optional<LevelRange> levels() const noexcept;

 private:
  struct Window {
    std::int64_t index = 0;
    std::int64_t count = 0;
    std::int64_t most = 0;
  };
  using Windows = std::array<Window, kLevelCount>;
  void addToWindows(std::int64_t startNs) noexcept;

  // Null before the second event: deep nesting has many lines with a single event.
  std::unique_ptr<Windows> windows_;
  std::int64_t count_ = 0;
  std::int64_t startNs_ = 0;
  std::int64_t endNs_ = 0;
};

// Makes the rows of a line's levels from its events, passed once and in order.
class LodBuilder {
 public:
  using Sink = std::function<void(const LodRow&)>;

  LodBuilder(LevelRange levels, Sink sink);
  void add(const LineEvent& event);
  void finish();

 private:
  struct Bucket {
    std::int64_t index = 0;
    std::int64_t longestNs = 0;
    LodRow row;  // count 0: empty
  };
  void flush(Bucket& bucket);

  std::vector<Bucket> buckets_;  // by level
  Sink sink_;
};

}  // namespace sonde::store
