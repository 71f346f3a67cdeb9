// The level-of-detail pyramid of one line: the arithmetic, without the database. Plain values and
// objects of one thread.
//
// A line is what a timeline draws in one row: events that follow each other without overlap, sorted
// by start. Level k stands for a width of 2^k ns. In it, an event at least that long keeps a row of
// its own; shorter ones are summed up by the bucket [i·2^k, (i+1)·2^k) in which they start. So the
// rows of a level are sorted and disjoint as the events are, and a window of n widths holds at most
// 2n + 2 of them.
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
  // Of the longest event, the first of equals.
  std::int64_t eventId = 0;
  std::int64_t nameId = 0;
  std::string kind;
};

inline constexpr int kFirstLevel =
    10;  // 1 µs: calls that recording can tell apart are hardly denser
inline constexpr int kLevelStep = 2;
inline constexpr int kLevelCount = 20;  // up to 2^48 ns, three days
// Events in 256 widths that a reader is expected to take one by one.
inline constexpr std::int64_t kMaxEventsPerWindow = 4096;

constexpr int levelAt(int index) noexcept {
  return kFirstLevel + index * kLevelStep;
}

struct LevelRange {
  int min = 0;
  int max = 0;
};

// Looks at a line's events once, in order, to choose the levels that are worth having.
class LineSurvey {
 public:
  void add(std::int64_t startNs, std::int64_t endNs);
  // When the line ends, where the ends given before were not the events'.
  void endAt(std::int64_t endNs) noexcept { endNs_ = endNs; }

  std::int64_t count() const noexcept { return count_; }
  std::int64_t startNs() const noexcept { return startNs_; }
  std::int64_t endNs() const noexcept { return endNs_; }
  // From the coarsest level below which the events themselves can be read, kMaxEventsPerWindow at
  // most in any 256 aligned widths, to the first that shows the whole line in 256 widths. None:
  // the events themselves always do.
  std::optional<LevelRange> levels() const noexcept;

 private:
  struct Window {
    std::int64_t index = 0;
    std::int64_t count = 0;
    std::int64_t most = 0;
  };
  using Windows = std::array<Window, kLevelCount>;
  void addToWindows(std::int64_t startNs) noexcept;

  // None before the second event: deep nesting has many lines of one event each.
  std::unique_ptr<Windows> windows_;
  std::int64_t count_ = 0;
  std::int64_t startNs_ = 0;
  std::int64_t endNs_ = 0;
};

// Makes the rows of a line's levels from its events, given once and in order.
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
