// What the timeline knows of a trace: its skeleton (read once) and blocks (read per window). Plain
// values, made by TraceReader on the worker's thread and handed over whole, so nothing here is
// shared between threads.
#pragma once

#include <QHash>
#include <QString>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace sonde::gui {

// `slice.kind` of the schema, numbered as model::SliceKind, and the two directions of a transfer.
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
};
[[nodiscard]] Kind kindOf(std::string_view word);
[[nodiscard]] QString wordOf(Kind kind);

enum class Owner : std::uint8_t { Thread, Channel };

// One thing on a track: a slice or a transfer, or, when `count` > 1, the several that a level of
// detail stands for.
struct Block {
  static constexpr std::int64_t kOpen = -1;
  std::int64_t id = 0;  // of the slice or transfer; of the longest one when count > 1
  std::int64_t startNs = 0;
  std::int64_t durNs = 0;   // kOpen: it never ended
  std::int64_t busyNs = 0;  // of durNs, how much is covered; equals it when count == 1
  std::int64_t bytes = 0;   // transfers only
  std::uint32_t count = 1;
  std::uint32_t nameId = 0;
  std::uint16_t row = 0;
  Kind kind = Kind::Range;
};

struct ProcessInfo {
  std::int64_t id = 0;
  std::int64_t pid = 0;
  std::optional<std::int64_t> rank;
  std::optional<std::int64_t> childOf;  // pid of the parent, when that has the same rank
  QString host;
  QString command;
  QString state;
  std::int64_t slices = 0;                // 0: there is none, or only the marks of forks and execs
  std::optional<std::int64_t> startNs{};  // job time
  std::optional<std::int64_t> endNs{};
  std::optional<std::int64_t> exitStatus{};
  std::optional<std::int64_t> exitSignal{};
};

// The rows of a track that hold one lane and depth of its owner.
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

struct TrackInfo {
  Owner owner = Owner::Thread;
  std::int64_t id = 0;   // of the thread or channel
  int process = 0;       // index in Skeleton::processes
  QString name;          // "main", "tcp 127.0.0.1:4242"
  QString detail;        // "thread 4242", "to 127.0.0.1:5000"
  bool network = false;  // a channel between processes that may be on different hosts
  int rows = 0;          // 0: nothing happened on it
  std::int64_t count = 0;
  std::vector<Line> lines;
};

struct IterationInfo {
  int process = 0;
  std::int64_t number = 0;
  std::int64_t startNs = 0;
  std::int64_t durNs = 0;  // Block::kOpen: it never ended
  std::int64_t sliceId = 0;
};

// The trace without its events. Times are job time; originNs is what the window calls 0.
struct Skeleton {
  QString title;
  std::int64_t originNs = 0;
  std::int64_t beginNs = 0;  // of the first process or event
  std::int64_t endNs = 0;
  std::int64_t events = 0;  // as the report counts them
  std::int64_t lost = 0;    // records that could not be kept
  bool unfinished = false;  // a recording that was not finished; what is shown is a snapshot of it
  // Ranks first, in their order, and in each what did most; after all of them what did nothing.
  std::vector<ProcessInfo> processes;
  std::vector<TrackInfo> tracks;          // by process, threads before channels
  std::vector<IterationInfo> iterations;  // by process, in time
};

// The blocks of one track in a time range, ordered by row and then by start.
struct TrackBlocks {
  int track = 0;  // index in Skeleton::tracks
  std::vector<Block> blocks;
};

// What a window of the timeline needs.
struct WindowRequest {
  std::int64_t beginNs = 0;
  std::int64_t endNs = 0;
  double nsPerPixel = 1.0;
  std::vector<int> tracks;
};

struct WindowReply {
  WindowRequest request;
  std::vector<TrackBlocks> tracks;
  QHash<std::uint32_t, QString> names;  // of every nameId in `tracks`
};

// Which event is meant: a slice of a thread or a transfer of a channel.
struct EventRef {
  Owner owner = Owner::Thread;
  std::int64_t id = 0;
  bool operator==(const EventRef&) const = default;
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

// Everything the details panel says of one event.
struct EventDetails {
  FoundEvent event;
  std::vector<DetailsSection> sections;
};

// The activity of one process over the whole trace, in equal bins.
struct OverviewRow {
  struct Bin {
    float busy = 0;           // share of the bin that is covered, up to 1 on each of its threads
    Kind kind = Kind::Range;  // what took the longest part
    float most = 0;
    std::uint32_t nameId = 0;  // of that
    QString name;
  };
  std::vector<Bin> bins;  // empty: nothing that took time

  // Requires: bins is not empty. The bins cover [beginNs, beginNs + spanNs].
  void add(const Block& block, std::int64_t beginNs, std::int64_t spanNs, std::int64_t traceEndNs);
};

struct SearchReply {
  std::optional<FoundEvent> found;
  std::int64_t hits = 0;
  std::int64_t position = 0;  // of `found` among the hits, from 1
  bool capped = false;        // there are more hits than were kept
};

// What lies in a selected span, by name.
struct SpanRow {
  QString name;
  Kind kind = Kind::Range;
  std::int64_t count = 0;
  std::int64_t totalNs = 0;  // clipped to the span
  std::int64_t maxNs = 0;
  std::int64_t bytes = 0;
};

}  // namespace sonde::gui
