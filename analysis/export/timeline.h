// A trace as trace viewers show it: processes, tracks of spans, arrows between spans, and counters,
// on the job's common clock.
//
// Plain values that live during the call that they are passed to. visitTimeline() reads the trace
// on the caller's thread; memory does not grow with the events, but for one number per iteration.
#pragma once

#include "analysis/model/place.h"
#include "analysis/store/database.h"
#include "base/progress.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sonde::exports {

struct TimelineProcess {
  model::ProcessId id{};
  std::int64_t pid = 0;       // as the process saw it
  std::int64_t shownPid = 0;  // the same, if it is the only one of that number in the trace
  model::OptionalInt rank{};
  model::OptionalInt worldSize{};
  std::string_view name{};  // its command, or what the trace has instead
  std::string_view host{};
  model::HostId hostId{};
};

struct TimelineTrack {
  enum class Kind { Thread, Stream, Channel };
  Kind kind = Kind::Thread;
  std::int64_t id = 0;  // of the thread, stream or channel
  std::int64_t shownPid = 0;
  model::OptionalInt tid{};   // of a thread, as the kernel numbers it
  std::int64_t shownTid = 0;  // no other track of its process has it
  std::string_view name{};
  model::OptionalInt device{};  // its number, of a stream
  model::OptionalInt stream{};  // its number
};

inline constexpr std::string_view kLaunch = "launch";  // from a call to what it launched

// One end of an arrow. Both have the same id, which no other arrow has.
struct FlowEnd {
  std::uint64_t id = 0;
  std::string_view kind{};  // kLaunch, or that of the link
  bool begins = false;
};

struct TimelineSpan {
  std::string_view kind{};      // as in the trace: of a slice, a copy or a sync; "kernel"
  std::string_view category{};  // in torch.profiler's terms for what devices do
  std::string_view name{};
  std::int64_t startNs = 0;
  model::OptionalInt durNs{};    // none: it never ended, or its end was lost
  model::OptionalInt drawnNs{};  // durNs, or how long it lasted at most; none: it never ended
  std::int64_t lane = 0;         // what overlaps without nesting has lanes of its own
  std::int64_t depth = 0;
  model::OptionalInt iteration{};  // its number, if it is one
  model::OptionalInt launcher{};   // the shown pid of the process that launched it, if another
  std::string_view args{};         // a JSON object, or empty
  std::span<const FlowEnd> flows{};
};

struct TimelineCounter {
  std::int64_t id = 0;                // no other counter has it
  model::OptionalInt shownPid{};      // none: of the host
  std::string_view kind = "counter";  // or "scalar": what the program told of its training
  std::string_view name{};
  std::string_view unit{};
};

// Processes first; then each track, followed by its spans, ordered by start and, on a lane,
// outermost first; then each counter, followed by its samples, in order of time. The first failure
// ends the visit.
class TimelineVisitor {
 public:
  TimelineVisitor() = default;
  TimelineVisitor(const TimelineVisitor&) = delete;
  TimelineVisitor& operator=(const TimelineVisitor&) = delete;
  virtual ~TimelineVisitor() = default;

  virtual Result<void> process(const TimelineProcess& process) = 0;
  virtual Result<void> track(const TimelineTrack& track) = 0;
  virtual Result<void> span(const TimelineSpan& span) = 0;
  virtual Result<void> counter(const TimelineCounter& counter) = 0;
  virtual Result<void> sample(std::int64_t ns, double value, model::OptionalInt iteration) = 0;
};

Result<void> visitTimeline(const store::Database& trace,
                           TimelineVisitor& visitor,
                           const Progress& progress = {});

}  // namespace sonde::exports
