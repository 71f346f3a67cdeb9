// The slices of an imported trace: accepts them in any order, nests them, and stores them in their
// original order.
//
// There are three passes; none needs all slices in memory. Slices are staged by (thread, start) and
// nested. With their places they are sorted by id, so that the table grows only at its end.
// Launches and ends of flows are looked up on the way. Owned by one importer, on one thread.
#pragma once

#include "analysis/ingest/import/imported_file.h"
#include "analysis/ingest/import/slice_placer.h"
#include "analysis/ingest/import/time_census.h"
#include "analysis/ingest/input/external_sorter.h"
#include "analysis/store/trace_writer.h"
#include "base/result.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sonde::ingest {

// Identifies the call that started device work: a number that both share. Numbers are unique within
// their space.
struct LaunchKey {
  std::int64_t space = 0;
  std::int64_t number = 0;
  auto operator<=>(const LaunchKey&) const = default;

  static LaunchKey correlation(model::ProcessId process, std::int64_t number) {
    return {process.value, number};
  }
  // `External id` of kineto: an operator, its calls and the work they started share it.
  static LaunchKey externalId(model::ProcessId process, std::int64_t number) {
    return {-process.value, number};
  }
  // The end of an arrow from the host, if there is no other way to identify it.
  static LaunchKey arrow(model::StreamId stream, std::int64_t ns) {
    constexpr std::int64_t kMostProcesses = std::int64_t{1} << 40;
    return {-kMostProcesses - stream.value, ns};
  }
  // Several calls may have it, each for a different kernel.
  bool isShared() const noexcept { return space < 0; }
};

// The call or operator that started device work.
struct Launch {
  LaunchKey key{};
  std::int64_t slice = 0;  // 0: no call; only its scope is known
  std::int64_t scope = 0;
  std::int64_t startNs = 0;
  std::int64_t owner = 0;  // process
};

class HostSlices {
 public:
  // Intermediate data goes to files in `folder`.
  explicit HostSlices(const std::filesystem::path& folder);

  // The caller assigns `slice.id`, from TraceWriter::reserveSliceId(); parent, depth, lane and
  // scope are ignored. `process`: owner of the correlations and external ids. `owner`: the thread's
  // process, if several processes share correlations. `externalId`: of an operator, or of a call
  // that starts device work.
  Result<void> add(const model::Slice& slice,
                   model::ProcessId process,
                   model::ProcessId owner = {},
                   model::OptionalInt externalId = {});

  // Slices of this kind contain nothing: those that overlap get lanes, even if one is inside the
  // other.
  void keepApart(model::SliceKind kind) noexcept { flatKind_ = kind; }

  // Adds a point of a flow. It belongs to the slice of this lane and depth if known, else to the
  // innermost slice at this instant or the next to begin. Points with the same kind and id form a
  // flow, in which links join each point to the one before. An id that starts again is a new flow.
  enum class FlowEnd : std::uint8_t { Start, Step, Finish };
  struct FlowPlace {
    model::ThreadId thread{};
    std::int64_t ns = 0;
    std::uint64_t at = 0;  // offset in the file
    std::optional<SlicePlacer::Line> line{};
    bool isNext = false;
  };
  Result<void> addFlow(std::string_view kind, std::int64_t id, FlowEnd end, const FlowPlace& place);

  // Ends a flow at device work that began at this instant. The scope in which the flow starts
  // becomes the work's (LaunchKey::arrow()).
  Result<void> addDeviceFlow(std::string_view kind,
                             std::int64_t id,
                             model::StreamId stream,
                             const FlowPlace& place);

  // Stores everything inside `window`, shifted by `shiftNs`. Requires: an open transaction.
  Result<void> finish(store::TraceWriter& writer,
                      std::int64_t shiftNs,
                      const TimeWindow& window = {});
  // Ids of the slices that finish() left out.
  const std::vector<std::int64_t>& leftOut() const noexcept { return leftOut_; }

  // After finish(): launches by ascending key. For one key calls come first; by correlation in file
  // order, by external id in order of time. False: no more.
  Result<bool> nextLaunch(Launch& into);
  // The number of launches whose correlation an earlier one of the same process had.
  std::uint64_t repeatedLaunches() const noexcept { return repeatedLaunches_; }
  // Counts an arrow that addFlow() cannot take.
  void loseArrow(std::uint64_t at) { looseArrows_.add(at); }
  // Points of flows without a link: at no slice, or without another end.
  const LooseArrows& looseArrows() const noexcept { return looseArrows_; }

 private:
  // Numbers for texts, so that records of fixed size can refer to them.
  class Words {
   public:
    std::uint32_t numberOf(std::string_view text);
    const std::string& operator[](std::uint32_t number) const { return *texts_[number]; }

   private:
    std::unordered_map<std::string, std::uint32_t> numbers_;
    std::vector<const std::string*> texts_;
    std::string key_;
  };
  struct Staged {
    std::int64_t id;
    std::int64_t thread;
    std::int64_t process;
    std::int64_t startNs;
    std::int64_t endNs;
    std::int64_t correlation;
    std::int64_t owner;
    std::int64_t externalId;
    std::int64_t name;
    SlicePlacer::Place place;
    std::uint32_t category;
    model::SliceKind kind;
    bool hasCorrelation;
    bool hasExternalId;
  };
  struct ByPlace {
    bool operator()(const Staged& a, const Staged& b) const noexcept;
  };
  struct ById {
    bool operator()(const Staged& a, const Staged& b) const noexcept { return a.id < b.id; }
  };
  struct FlowPoint {
    std::int64_t thread;
    std::int64_t ns;
    std::int64_t id;
    std::int64_t slice;
    std::int64_t scope;   // open at that point
    std::int64_t stream;  // of an end at a device
    std::uint64_t at;
    SlicePlacer::Line line;
    std::uint32_t kind;
    FlowEnd end;
    bool hasLine;
    bool isNext;
  };
  struct Flow {
    std::uint32_t kind = 0;
    std::int64_t id = 0;
    int starts = 0;
    FlowPoint from{};     // slice 0: no possible start of a link
    bool isTied = false;  // `from` is in a link
    FlowPoint early{};    // came before any start; slice 0: none did
  };
  struct FlowByPlace {
    bool operator()(const FlowPoint& a, const FlowPoint& b) const noexcept;
  };
  struct FlowById {
    bool operator()(const FlowPoint& a, const FlowPoint& b) const noexcept;
  };
  struct LaunchOrder {
    bool operator()(const Launch& a, const Launch& b) const noexcept;
  };

  Result<void> placeAll(const TimeWindow& window);
  Result<void> place(Staged& slice);
  Result<void> addLaunches(const Staged& slice);
  Result<void> settleFlows(std::int64_t beforeNs, std::int64_t next);
  std::int64_t sliceOf(const FlowPoint& point, std::int64_t next) const noexcept;
  Result<void> storeSlices(store::TraceWriter& writer, std::int64_t shiftNs);
  Result<void> storeLinks(store::TraceWriter& writer);
  Result<void> addToFlow(store::TraceWriter& writer, Flow& flow, const FlowPoint& point);
  Result<void> endFlow(store::TraceWriter& writer, Flow& flow);
  Result<void> tie(store::TraceWriter& writer, Flow& flow, const FlowPoint& to);
  Result<void> tieDevice(Flow& flow, const FlowPoint& to);
  void begin(Flow& flow, const FlowPoint& point);
  void lose(const FlowPoint& point);
  model::Link linkOf(const FlowPoint& start, const FlowPoint& finish) const;

  ExternalSorter<Staged, ByPlace> staged_;
  ExternalSorter<Staged, ById> placed_;
  ExternalSorter<FlowPoint, FlowByPlace> flows_;
  ExternalSorter<FlowPoint, FlowById> settledFlows_;
  ExternalSorter<Launch, LaunchOrder> launches_;
  SlicePlacer placer_;
  std::int64_t thread_ = 0;  // current thread of the placer
  Launch lastLaunch_{};
  std::uint64_t repeatedLaunches_ = 0;
  LooseArrows looseArrows_;
  FlowPoint nextFlow_{};
  bool hasFlow_ = false;
  std::optional<model::SliceKind> flatKind_;
  std::vector<std::int64_t> leftOut_;
  Words categories_;
  Words flowKinds_;
};

}  // namespace sonde::ingest
