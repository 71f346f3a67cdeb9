// A trace as HolisticTraceAnalysis (HTA) sees it: the device events by its definitions, in whole
// microseconds, without the last step. Plain values; reading uses the database's thread.
//
// Begins are rounded up to a microsecond and ends down, so an event can become empty. HTA reads
// times as doubles. Times of a torch.profiler file are read in the same way, so that they round
// equally (a double of today's date in µs has steps of 0.25). If there are two steps or more, the
// last one is left out: all that was launched after its begin, and all without a known launch.
//
// Source: github.com/facebookresearch/HolisticTraceAnalysis. Only definitions are taken from it.
#pragma once

#include "analysis/engine/metrics/ranks.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sonde::engine::hta {

// The type follows from an event's name; the first match counts.
enum class EventType : std::uint8_t { Computation, Communication, Memory, Other };
inline constexpr std::size_t kSummedTypes = 3;   // the types before Other
std::string_view word(EventType type) noexcept;  // as HTA spells it
EventType typeOf(std::string_view name) noexcept;

// Microseconds.
struct Call {
  std::string name;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

struct Event {
  std::string name;
  EventType type = EventType::Other;
  std::int64_t stream = 0;  // its number
  std::int64_t begin = 0;   // microseconds
  std::int64_t end = 0;
  bool isSync = false;       // a synchronisation: it counts as busy, but not for idle causes
  std::optional<Call> call;  // the call that launched it
  std::optional<double> gigabytesPerSecond;

  std::int64_t length() const noexcept { return end - begin; }
};

struct Step {
  std::int64_t number = 0;
  std::int64_t begin = 0;  // microseconds
  std::int64_t end = 0;
  std::int64_t lastEnd = 0;  // of what the host began in the step
};

struct RankEvents {
  metrics::RankProcess process;
  std::vector<Event> events;  // by begin
  std::vector<Step> steps;    // by begin, without the one left out
};

// Ranks without device events have empty entries.
Result<std::vector<RankEvents>> readEvents(const store::Database& trace);

}  // namespace sonde::engine::hta
