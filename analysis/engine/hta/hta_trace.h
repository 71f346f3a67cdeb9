// A trace as HolisticTraceAnalysis (HTA) sees it: what its definitions take for an event of a
// device, in whole microseconds, without the last step. Plain values; reading uses the database's
// thread.
//
// An event begins at the microsecond after it and ends at the one before, which can leave nothing
// of it. HTA reads times as doubles: those of a file of torch.profiler are read in the same way, so
// that the microsecond is the same one (a double of today's date in µs has steps of 0.25).
// With two steps or more the last one is left out: all that was launched from its begin on, and
// what no launch is known of.
//
// Source: github.com/facebookresearch/HolisticTraceAnalysis, of which this has definitions alone.
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

// By the name of an event, the first that fits.
enum class EventType : std::uint8_t { Computation, Communication, Memory, Other };
inline constexpr std::size_t kSummedTypes = 3;   // those before Other
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
  bool isSync = false;       // a synchronisation: it counts as busy, and not for idle causes
  std::optional<Call> call;  // that launched it
  std::optional<double> gigabytesPerSecond;

  std::int64_t length() const noexcept { return end - begin; }
};

struct Step {
  std::int64_t number = 0;
  std::int64_t begin = 0;  // microseconds
  std::int64_t end = 0;
  std::int64_t lastEnd = 0;  // of what the host began in it
};

struct RankEvents {
  metrics::RankProcess process;
  std::vector<Event> events;  // by begin
  std::vector<Step> steps;    // by begin, without the one that is left out
};

// Ranks without events of a device are there, and empty.
Result<std::vector<RankEvents>> readEvents(const store::Database& trace);

}  // namespace sonde::engine::hta
