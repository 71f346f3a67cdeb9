// The timeline's data of a trace: its skeleton (read once) and blocks (read per window). Plain
// values; TraceReader makes them on the worker's thread and hands them over whole, so threads share
// nothing.
#pragma once

#include "analysis/engine/correction/corrected_times.h"
#include "analysis/engine/correction/cost_spans.h"
#include "analysis/model/words.h"

#include <QHash>
#include <QString>
#include <QStringList>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace sonde::gui {

// The kinds of events: `slice.kind` numbered as model::SliceKind, the two directions of a transfer,
// and device events, the last five numbered as model::SyncKind.
enum class Kind : std::uint8_t {
  Phase = 1,
  Operation,
  Iteration,
  MicroStep,
  Forward,
  Backward,
  Optimizer,
  DataLoad,
  Checkpoint,
  Evaluation,
  Module,
  Operator,
  Api,
  Collective,
  Io,
  Wait,
  Python,
  Range,
  Mark,
  Send,
  Receive,
  Kernel,
  CollectiveKernel,  // NCCL's and the like
  Copy,
  Set,
  StreamSync,
  ContextSync,
  EventSync,
  EventRecord,
  EventWait,
};
inline constexpr Kind kLastKind = Kind::EventWait;
// The kind for a word of `slice.kind`, `transfer.direction` or `copy.kind`, or for "kernel".
[[nodiscard]] Kind kindOf(std::string_view word);
[[nodiscard]] std::optional<Kind> kindOf(std::optional<model::SliceKind> kind);
// The kind for a word of `sync.kind`.
[[nodiscard]] Kind kindOfSync(std::string_view word);
[[nodiscard]] QString wordOf(Kind kind);

// The owners of tracks, in display order within a process.
enum class Owner : std::uint8_t { Stream, Thread, Channel, Counter };
// The table of an event.
enum class Table : std::uint8_t { Slice, Kernel, Copy, Sync, Transfer };
[[nodiscard]] Owner ownerOf(Table table);

// Identifies an event.
struct EventRef {
  Table table = Table::Slice;
  std::int64_t id = 0;
  auto operator<=>(const EventRef&) const = default;
};

// A drawn rectangle on a track: a slice, a transfer or device work. If `count` > 1, the sum of
// several events in a level of detail.
struct Block {
  static constexpr std::int64_t kOpen = -1;
  std::int64_t id = 0;  // of the event; of the longest one if count > 1
  std::int64_t startNs = 0;
  std::int64_t durNs = 0;     // kOpen: it never ended, or its end was lost
  std::int64_t atMostNs = 0;  // longest possible duration if its end was lost; else 0
  std::int64_t busyNs = 0;    // the covered part of durNs; equal to it if count == 1
  std::int64_t bytes = 0;     // transfers and copies
  std::uint32_t count = 1;
  std::uint32_t nameId = 0;  // 0: the kind is enough
  std::uint16_t row = 0;
  Kind kind = Kind::Range;
};
[[nodiscard]] EventRef refOf(const Block& block);
// The end of its rectangle: its end, or the latest possible one.
[[nodiscard]] std::int64_t endOf(const Block& block, std::int64_t traceEndNs);
// "1.2 ms", "did not end", "at most 1.2 ms: its end was lost".
[[nodiscard]] QString lengthOf(const Block& block);
// Its name; without one, its kind.
[[nodiscard]] QString nameOf(const Block& block, const QHash<std::uint32_t, QString>& names);

struct ProcessInfo {
  std::int64_t id = 0;
  std::int64_t pid = 0;
  std::optional<std::int64_t> rank;
  std::optional<std::int64_t> childOf;  // pid of the parent, if it has the same rank
  QString host;
  QString command;
  QString state;
  std::int64_t slices = 0;                // including kernels and copies; 0: none, or only the
                                          // marks of forks and execs
  std::optional<std::int64_t> startNs{};  // job time
  std::optional<std::int64_t> endNs{};
  std::optional<std::int64_t> exitStatus{};
  std::optional<std::int64_t> exitSignal{};
};

// The rows of a track for one lane and depth of its owner.
struct Line {
  std::int32_t lane = 0;
  std::int32_t depth = 0;
  std::uint16_t row = 0;
  std::int64_t startNs = 0;  // of the first event, on the host's clock
  std::int64_t endNs = 0;
  std::int64_t count = 0;
  int minLevel = -1;  // levels of detail that exist, every second one; -1: none
  int maxLevel = -1;
};

struct DeviceInfo {
  std::int64_t id = 0;
  QString name;   // "gpu 3", as in the report
  QString model;  // "NVIDIA A100-SXM4-80GB"; may be empty
};

struct CounterInfo {
  QString unit;           // of the drawn values
  bool isTotal = false;   // its rate is drawn
  bool isOfHost = false;  // of the machine, or of a device that no process used
  QString kind{};         // "power": its name without the device or thread
};

struct TrackInfo {
  static constexpr int kCounterRows = 2;  // the height of a counter
  Owner owner = Owner::Thread;
  std::int64_t id = 0;     // of the thread, stream, channel or counter
  int process = 0;         // index in Skeleton::processes; of a machine its first
  int device = -1;         // of a stream: index in Skeleton::devices, -1: unknown
  QString name;            // "main", "gpu 3 · stream 7", "tcp 127.0.0.1:4242"
  QString detail;          // "thread 4242", "to 127.0.0.1:5000"
  bool network = false;    // a channel between processes that may be on different hosts
  int rows = 0;            // 0: no events
  std::int64_t count = 0;  // of events; 0 for a counter
  std::vector<Line> lines;
  std::optional<CounterInfo> counter{};
  bool communicates = false;  // of a stream: its first kernel is one of NCCL or the like
};

struct IterationInfo {
  int process = 0;
  std::int64_t number = 0;
  std::int64_t startNs = 0;
  std::int64_t durNs = 0;     // Block::kOpen: it never ended, or its end was lost
  std::int64_t atMostNs = 0;  // as Block::atMostNs
  std::int64_t sliceId = 0;
};
[[nodiscard]] std::int64_t endOf(const IterationInfo& iteration, std::int64_t traceEndNs);

// The trace without its events. Times are job time; originNs is displayed as 0.
struct Skeleton {
  int opening = 0;  // the number of the reader's opening that read it; others have other tracks
  QString title;
  QString file;  // that is read: the named one, or a temporary one that lives as long as it is open
  std::int64_t originNs = 0;
  std::int64_t beginNs = 0;  // of the first process or event
  std::int64_t endNs = 0;
  std::int64_t events = 0;  // as the report counts them
  std::int64_t lost = 0;    // records that could not be kept
  bool unfinished = false;  // an unfinished recording; a snapshot of it is shown
  bool replayed = false;    // the times are those of a replay
  QStringList costMethods;  // how the costs of recording are known; empty: they are not known
  // Ranks first, in order, and in each rank the busiest first; processes without events come last.
  std::vector<ProcessInfo> processes;
  std::vector<DeviceInfo> devices;  // by number
  // By process: streams by device, threads, channels, counters.
  std::vector<TrackInfo> tracks;
  std::vector<IterationInfo> iterations;  // by process, in time
};

// The values of a counter that begin in one pixel; often a single one.
struct CurvePoint {
  std::int64_t startNs = 0;
  double min = 0;  // NaN: no value is known
  double max = 0;
  double last = 0;  // holds until the next point; NaN: unknown
};

// A counter's values in a time range, by time.
struct Curve {
  std::vector<CurvePoint> points;
  std::int64_t endNs = 0;  // the last value in the trace holds until here
  double low = 0;          // the smallest value in the trace, or 0
  double high = 0;         // the largest value in the trace, or 0
};
// The point at `ns`, and what is known of the pixel that ends there; nullptr: nothing.
[[nodiscard]] const CurvePoint* pointAt(const Curve& curve, std::int64_t ns);

// The blocks of one track in a time range, ordered by row and then by start; for a counter its
// curve.
struct TrackBlocks {
  int track = 0;  // index in Skeleton::tracks
  std::vector<Block> blocks;
  Curve curve{};
  // Where recording took time, on the job's clock; empty if the request has no correction.
  std::vector<engine::correction::CostSpan> costs{};
};

// A request for the blocks of a timeline window.
struct WindowRequest {
  std::int64_t beginNs = 0;
  std::int64_t endNs = 0;
  double nsPerPixel = 1.0;
  std::vector<int> tracks;
  // For threads and streams; nullptr: times are as recorded.
  std::shared_ptr<const engine::correction::CorrectedTimes> correction{};
};

struct WindowReply {
  WindowRequest request;
  std::vector<TrackBlocks> tracks;
  QHash<std::uint32_t, QString> names;  // of every nameId in `tracks`
};

// An event found by name or by stepping.
struct FoundEvent {
  EventRef ref;
  int track = 0;
  Block block;
  QString name;
};

struct DetailsSection {
  QString title;
  std::vector<std::pair<QString, QString>> rows;
};

// The events linked to one event by arrows: a call and the work it launched, both ends of a
// transfer, a wait and the slice that ended it, the ranks' parts of a collective.
struct Arrows {
  static constexpr std::size_t kMax = 100;  // the number that are kept and drawn, of each sort
  std::vector<FoundEvent> from;             // sources of arrows that end at the event
  std::vector<FoundEvent> to;               // targets of its own arrows, by time
  std::int64_t toCount = 0;                 // the full number
  // The other ranks' parts of the event's collective, from the next rank on.
  std::vector<FoundEvent> ranks;
  std::int64_t rankCount = 0;    // the full number
  std::optional<EventRef> last;  // the part that began last: the event or one of `ranks`
};

// The content of the details panel for one event, and its arrows.
struct EventDetails {
  FoundEvent event;
  Arrows arrows;
  std::vector<DetailsSection> sections;
};

// The activity of one process over the whole trace, in equal bins.
struct OverviewRow {
  struct Bin {
    float busy = 0;           // covered share of the bin; up to 1 for each thread
    Kind kind = Kind::Range;  // of the longest part
    float most = 0;
    std::uint32_t nameId = 0;  // of the longest part
    QString name;
  };
  std::vector<Bin> bins;  // empty: no event takes time

  // Requires: bins is not empty. The bins cover [beginNs, beginNs + spanNs].
  void add(const Block& block, std::int64_t beginNs, std::int64_t spanNs, std::int64_t traceEndNs);
};

struct SearchReply {
  std::optional<FoundEvent> found;
  std::int64_t hits = 0;
  std::int64_t position = 0;  // of `found` among the hits, from 1
  bool capped = false;        // there are more hits than were kept
};

// The events of one name in a selected span.
struct SpanRow {
  QString name;
  Kind kind = Kind::Range;
  std::int64_t count = 0;
  std::int64_t totalNs = 0;  // clipped to the span; with a correction without the cost of recording
  std::int64_t maxNs = 0;
  std::int64_t bytes = 0;
};

}  // namespace sonde::gui
