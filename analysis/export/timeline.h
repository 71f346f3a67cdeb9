// A trace in the form that trace viewers show: processes, tracks of spans, arrows between spans,
// and counters, on the job's common clock.
//
// Values are plain and valid during the call they are passed to. visitTimeline() reads the trace on
// the caller's thread; its memory is one number per iteration, and does not grow with events.
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
  std::int64_t shownPid = 0;  // the same if unique in the trace
  model::OptionalInt rank{};
  model::OptionalInt worldSize{};
  std::string_view name{};  // its command, or a substitute
  std::string_view host{};
  model::HostId hostId{};
};

struct TimelineTrack {
  enum class Kind { Thread, Stream, Channel, Path };
  Kind kind = Kind::Thread;
  std::int64_t id = 0;  // of the thread, stream or channel
  std::int64_t shownPid = 0;
  model::OptionalInt tid{};   // of a thread: the kernel's number
  std::int64_t shownTid = 0;  // unique in its process
  std::string_view name{};
  model::OptionalInt device{};  // of a stream: the device's number
  model::OptionalInt stream{};  // of a stream: its number
};

inline constexpr std::string_view kLaunch = "launch";  // from a call to the work it launched

// One end of an arrow. Both ends have the same id, unique to the arrow.
struct FlowEnd {
  std::uint64_t id = 0;
  std::string_view kind{};  // kLaunch, or the link's kind
  bool begins = false;
};

struct TimelineSpan {
  std::string_view kind{};      // as in the trace: of a slice, copy or sync; or "kernel"
  std::string_view category{};  // for device work torch.profiler's word
  std::string_view name{};
  std::int64_t startNs = 0;
  model::OptionalInt durNs{};    // unset: it never ended, or its end was lost
  model::OptionalInt drawnNs{};  // durNs, or the longest it can have lasted; unset: it never ended
  std::int64_t lane = 0;         // spans that overlap without nesting have different lanes
  std::int64_t depth = 0;
  model::OptionalInt iteration{};  // its number, if it is an iteration
  model::OptionalInt launcher{};   // shown pid of the process that launched it, if another one
  std::string_view args{};         // a JSON object, or empty
  std::span<const FlowEnd> flows{};
};

struct TimelineCounter {
  std::int64_t id = 0;                // unique among counters
  model::OptionalInt shownPid{};      // unset: of the host
  std::string_view kind = "counter";  // or "scalar": reported by the program about its training
  std::string_view name{};
  std::string_view unit{};
};

// A part of a critical path.
struct PathSpan {
  std::string name;
  std::string category;
  std::int64_t startNs = 0;
  std::int64_t durNs = 0;
  std::int64_t lane = 0;  // parts that overlap have different ones
  std::string args;       // a JSON object
};

// Visits processes first; then each track, followed by its spans, ordered by start and, on a lane,
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
