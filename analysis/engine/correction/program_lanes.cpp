#include "analysis/engine/correction/program_lanes.h"

#include "analysis/model/times.h"
#include "analysis/model/words.h"
#include "analysis/store/each_row.h"
#include "analysis/store/last_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_set>
#include <utility>

namespace sonde::engine::correction {
namespace {

using waits::Outermost;
using waits::ThreadFacts;
using End = CostPoint::End;
using model::SliceKind;
using store::Statement;

Result<void> checkTimes(std::int64_t begin, std::int64_t duration) {
  if (model::isTime(begin) && model::isTime(duration) && model::isTime(begin + duration))
    return {};
  return Error{ErrorCode::Corrupt,
               fmt::format("the trace is damaged: it has an event at {} ns that lasts {} ns, which "
                           "are not valid times",
                           begin,
                           duration)};
}

bool isPython(std::string_view command) {
  const std::string_view program = command.substr(0, command.find(' '));
  return program.substr(program.rfind('/') + 1).starts_with("python");
}

class LaneReader {
 public:
  LaneReader(const store::Database& trace, const CostTable& costs) : trace_(trace), costs_(costs) {}

  Result<LanesOfTrace> read() {
    SONDE_TRY(readThreads());
    SONDE_TRY(readSlices());
    SONDE_TRY(readInstants("SELECT thread_id, alloc_ns FROM allocation", kAllocationCost));
    SONDE_TRY(readInstants("SELECT thread_id, ts_ns FROM stack_sample", kSampleCost));
    SONDE_TRY(readTransfers());
    SONDE_TRY(readIterations());
    chooseDrivers();
    SONDE_TRY(readOfProcess("SELECT process_id, ts_ns FROM scalar", kScalarCost));
    SONDE_TRY(readOfProcess("SELECT process_id, ts_ns FROM tensor", kTensorCost));
    SONDE_TRY(readStreams());
    for (Lane& lane : found_.points)
      sortPoints(lane);
    return std::move(found_);
  }

 private:
  Result<void> readThreads();
  Result<void> readNames(std::string_view like,
                         bool (*isOne)(std::string_view),
                         std::unordered_set<std::int64_t>& into);
  Result<void> readSlices();
  Result<void> addSlice(const Statement& row);
  void addStretch(const Statement& row, SliceKind kind, std::int64_t end, ThreadFacts& owner);
  Result<void> readTransfers();
  Result<void> readInstants(std::string_view sql, const CostClass& of);
  Result<void> readOfProcess(std::string_view sql, const CostClass& of);
  Result<void> readIterations();
  Result<void> readStreams();
  void chooseDrivers();

  LaneIndex addLane() {
    found_.points.emplace_back();
    return found_.lanes.add();
  }
  Lane& lane(LaneIndex index) { return found_.points[index]; }
  ThreadFacts* thread(std::int64_t id) {
    const auto found = found_.lanes.threads.find(id);
    return found == found_.lanes.threads.end() ? nullptr : &found->second;
  }

  // Index of the cost. nullopt: unknown; the event is then counted.
  std::optional<std::uint32_t> costOf(const CostClass& of, std::int64_t processId) {
    const auto found = costs_.find(of, processId);
    if (!found)
      ++found_.unknown[of];
    return found;
  }

  // The same for slices, cached because many slices are of few kinds. nullptr: nobody recorded it.
  struct SliceCost {
    std::optional<std::uint32_t> cost;
    std::int64_t* unknown = nullptr;
  };
  const SliceCost* costOfSlice(const Statement& row, SliceKind kind, std::int64_t processId);

  // The order keeps parents around children that begin or end together with them.
  static void sortPoints(Lane& lane) {
    const auto before = [](const CostPoint& a, const CostPoint& b) { return a.at < b.at; };
    if (!std::is_sorted(lane.points.begin(), lane.points.end(), before))
      std::stable_sort(lane.points.begin(), lane.points.end(), before);
  }

  const store::Database& trace_;
  const CostTable& costs_;
  LanesOfTrace found_;
  std::unordered_map<std::int64_t, bool> isPython_;  // by process
  std::unordered_set<std::int64_t> sleeps_;          // names of waits for a point in time
  std::unordered_set<std::int64_t> opens_;           // names of calls that open a file
  std::unordered_set<std::int64_t> launches_;        // names of calls that launch work on a device
  store::LastText<std::optional<SliceKind>> kinds_;
  store::LastText<std::size_t> lastCategory_;  // indices of categories_
  std::vector<std::string> categories_;
  // Process, category, kind, and whether it opens a file or launches work.
  using SlicePlace = std::tuple<std::int64_t, std::size_t, SliceKind, bool, bool>;
  std::map<SlicePlace, std::optional<SliceCost>> sliceCosts_;
};

const LaneReader::SliceCost* LaneReader::costOfSlice(const Statement& row,
                                                     SliceKind kind,
                                                     std::int64_t processId) {
  const std::string_view category = row.text(2);
  const std::size_t word = lastCategory_.of(category, [this](std::string_view text) {
    const auto known = std::find(categories_.begin(), categories_.end(), text);
    const auto index = static_cast<std::size_t>(known - categories_.begin());
    if (known == categories_.end())
      categories_.emplace_back(text);
    return index;
  });
  const bool opens = kind == SliceKind::Io && opens_.contains(row.integer(8));
  const bool launches = kind == SliceKind::Api && launches_.contains(row.integer(8));
  const auto [place, isNew] = sliceCosts_.try_emplace({processId, word, kind, opens, launches});
  std::optional<SliceCost>& cost = place->second;
  if (isNew) {
    const auto of = costClassOf(kind, category, {isPython_[processId], opens, launches});
    if (of)
      cost = SliceCost{costs_.find(*of, processId), nullptr};
    if (cost && !cost->cost)
      cost->unknown = &found_.unknown[*of];
  }
  return cost ? &*cost : nullptr;
}

Result<void> LaneReader::readThreads() {
  SONDE_TRY(store::forEachRow(
      trace_, "SELECT id, command FROM process", [&](const Statement& row) -> Result<void> {
        isPython_.emplace(row.integer(0), isPython(row.text(1)));
        return {};
      }));
  return store::forEachRow(trace_,
                           "SELECT id, process_id FROM thread ORDER BY id",
                           [&](const Statement& row) -> Result<void> {
                             const LaneIndex lane = addLane();
                             found_.lanes.threads.emplace(
                                 row.integer(0), ThreadFacts{row.integer(1), lane, false, {}, {}});
                             return {};
                           });
}

// Finds the ids of texts that match `like` and for which `isOne` is true.
Result<void> LaneReader::readNames(std::string_view like,
                                   bool (*isOne)(std::string_view),
                                   std::unordered_set<std::int64_t>& into) {
  return store::forEachRow(trace_,
                           fmt::format("SELECT id, text FROM string WHERE text LIKE '{}'", like),
                           [&](const Statement& row) -> Result<void> {
                             if (isOne(row.text(1)))
                               into.insert(row.integer(0));
                             return {};
                           });
}

Result<void> LaneReader::readSlices() {
  SONDE_TRY(readNames(
      "%sleep%", [](std::string_view) { return true; }, sleeps_));
  SONDE_TRY(readNames("%open", opensFile, opens_));
  SONDE_TRY(readNames("cu%", launchesWork, launches_));
  SONDE_TRY(store::forEachRow(
      trace_,
      "SELECT thread_id, kind, category, start_ns, dur_ns, parent_id, lane, id, name_id FROM slice "
      "ORDER BY rowid",
      [&](const Statement& row) { return addSlice(row); }));
  for (auto& [id, facts] : found_.lanes.threads)
    std::sort(facts.requestWaits.begin(),
              facts.requestWaits.end(),
              [](const Outermost& a, const Outermost& b) { return a.end < b.end; });
  return {};
}

void LaneReader::addStretch(const Statement& row,
                            SliceKind kind,
                            std::int64_t end,
                            ThreadFacts& owner) {
  const std::int64_t begin = row.integer(3);
  const bool waits = kind == SliceKind::Wait;
  if (waits && row.text(2) == "mpi")
    owner.requestWaits.push_back({begin, end});
  if (!row.isNull(5) || row.integer(6) != 0)
    return;
  const bool isForSomething = waits && row.text(2) == "sync" && !sleeps_.contains(row.integer(8));
  owner.outermost.push_back({begin, end, isForSomething ? row.integer(7) : 0});
}

Result<void> LaneReader::addSlice(const Statement& row) {
  ThreadFacts* const owner = thread(row.integer(0));
  const auto& kind = kinds_.of(row.text(1), model::sliceKindOf);
  if (owner == nullptr || !kind)
    return {};
  const std::int64_t begin = row.integer(3);
  const std::int64_t duration = std::max<std::int64_t>(row.integer(4), 0);
  SONDE_TRY(checkTimes(begin, duration));
  if (!row.isNull(4))
    addStretch(row, *kind, begin + duration, *owner);
  const SliceCost* const known = costOfSlice(row, *kind, owner->processId);
  if (known != nullptr && known->unknown != nullptr)
    ++*known->unknown;
  if (known == nullptr || !known->cost)
    return {};
  const std::uint32_t cost = *known->cost;
  std::vector<CostPoint>& points = lane(owner->lane).points;
  if (*kind == SliceKind::Mark) {
    points.push_back({begin, cost, End::Instant});
    return {};
  }
  points.push_back({begin, cost, End::Begin});
  if (!row.isNull(4))
    points.push_back({begin + duration, cost, End::End});
  return {};
}

// Reads transfers over sockets and pipes. For MPI and NCCL the call already stands for its
// messages.
Result<void> LaneReader::readTransfers() {
  return store::forEachRow(
      trace_,
      "SELECT x.thread_id, x.start_ns, x.dur_ns FROM transfer x JOIN channel c ON c.id = "
      "x.channel_id WHERE c.kind IN ('tcp', 'unix', 'pipe') AND x.thread_id IS NOT NULL",
      [&](const Statement& row) -> Result<void> {
        ThreadFacts* const owner = thread(row.integer(0));
        if (owner == nullptr)
          return {};
        const std::int64_t duration = std::max<std::int64_t>(row.integer(2), 0);
        SONDE_TRY(checkTimes(row.integer(1), duration));
        owner->outermost.push_back({row.integer(1), row.integer(1) + duration});
        const auto cost = costOf(kTransferCost, owner->processId);
        if (!cost)
          return {};
        lane(owner->lane).points.push_back({row.integer(1), *cost, End::Begin});
        lane(owner->lane).points.push_back({row.integer(1) + duration, *cost, End::End});
        return {};
      });
}

Result<void> LaneReader::readInstants(std::string_view sql, const CostClass& of) {
  return store::forEachRow(trace_, sql, [&](const Statement& row) -> Result<void> {
    ThreadFacts* const owner = row.isNull(0) ? nullptr : thread(row.integer(0));
    if (owner == nullptr)
      return {};
    SONDE_TRY(checkTimes(row.integer(1), 0));
    if (const auto cost = costOf(of, owner->processId))
      lane(owner->lane).points.push_back({row.integer(1), *cost, End::Instant});
    return {};
  });
}

// Rows that name only a process are attributed to the thread that drives it.
Result<void> LaneReader::readOfProcess(std::string_view sql, const CostClass& of) {
  return store::forEachRow(trace_, sql, [&](const Statement& row) -> Result<void> {
    const auto driver = found_.lanes.ofProcess.find(row.integer(0));
    if (driver == found_.lanes.ofProcess.end())
      return {};
    SONDE_TRY(checkTimes(row.integer(1), 0));
    if (const auto cost = costOf(of, row.integer(0)))
      lane(driver->second).points.push_back({row.integer(1), *cost, End::Instant});
    return {};
  });
}

Result<void> LaneReader::readIterations() {
  return store::forEachRow(trace_,
                           "SELECT DISTINCT s.thread_id FROM iteration i JOIN slice s ON s.id = "
                           "i.slice_id",
                           [&](const Statement& row) -> Result<void> {
                             if (ThreadFacts* const owner = thread(row.integer(0)))
                               owner->hasIterations = true;
                             return {};
                           });
}

// Chooses the thread with iterations, else the one that recorded most, else the first.
void LaneReader::chooseDrivers() {
  std::map<std::int64_t, std::tuple<bool, std::size_t, std::int64_t>> best;  // by process
  for (const auto& [id, facts] : found_.lanes.threads) {
    const std::tuple worth(facts.hasIterations, lane(facts.lane).points.size(), -id);
    const auto [place, isNew] = best.emplace(facts.processId, worth);
    if (!isNew && place->second >= worth)
      continue;
    place->second = worth;
    found_.lanes.ofProcess[facts.processId] = facts.lane;
  }
}

Result<void> LaneReader::readStreams() {
  return store::forEachRow(
      trace_, "SELECT id FROM stream ORDER BY id", [&](const Statement& row) -> Result<void> {
        found_.lanes.ofStream.emplace(row.integer(0), addLane());
        return {};
      });
}

}  // namespace

Result<LanesOfTrace> readLanes(const store::Database& trace, const CostTable& costs) {
  return LaneReader(trace, costs).read();
}

Result<RecordedProgram> readProgram(const store::Database& trace, const CostTable& costs) {
  SONDE_TRY_ASSIGN(LanesOfTrace found, readLanes(trace, costs));
  // Lanes have their hosts' times: what other hosts did shifts nothing here.
  SONDE_TRY_ASSIGN(waits::Waits waits, waits::readWaits(trace, found.lanes, align::JobClock()));
  Program program{std::move(found.points), std::move(waits.waits), std::move(waits.meetings)};
  RecordedProgram recorded;
  recorded.schedule = scheduleOf(program);
  recorded.lanes = std::move(program.lanes);
  for (const auto& [id, facts] : found.lanes.threads)
    recorded.ofThread.emplace(id, facts.lane);
  recorded.ofStream = std::move(found.lanes.ofStream);
  recorded.ofProcess = std::move(found.lanes.ofProcess);
  recorded.unknown = std::move(found.unknown);
  return recorded;
}

std::vector<std::int64_t> RecordedProgram::eventsByCost(std::size_t costs) const {
  std::vector<std::int64_t> events(costs, 0);
  for (const Lane& lane : lanes)
    for (const CostPoint& point : lane.points)
      events[point.cost] += point.end == End::End ? 0 : 1;
  return events;
}

}  // namespace sonde::engine::correction
