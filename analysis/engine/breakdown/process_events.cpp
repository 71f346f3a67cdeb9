#include "analysis/engine/breakdown/process_events.h"

#include "analysis/engine/breakdown/event_times.h"
#include "analysis/engine/breakdown/iteration_spans.h"
#include "analysis/model/event.h"
#include "analysis/store/each_row.h"
#include "analysis/store/last_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace sonde::engine::breakdown {
namespace {

using model::SliceKind;
using store::Statement;

template <typename Item>
Extent extentOf(const std::vector<Item>& items) {
  Extent extent;
  for (const Item& item : items)
    extent.include(item.begin, item.end);
  return extent;
}

// Once, since correction keeps the order.
void putInOrder(ProcessEvents& process) {
  const auto outerFirst = [](const HostSlice& a, const HostSlice& b) {
    return std::tie(a.begin, b.end, a.depth) < std::tie(b.begin, a.end, b.depth);
  };
  for (HostThread& thread : process.threads) {
    if (!std::is_sorted(thread.slices.begin(), thread.slices.end(), outerFirst))
      std::stable_sort(thread.slices.begin(), thread.slices.end(), outerFirst);
    thread.extent = extentOf(thread.slices);
  }
  const auto firstFirst = [](const DeviceSpan& a, const DeviceSpan& b) {
    return a.begin < b.begin;
  };
  for (DeviceLane& lane : process.device) {
    if (!std::is_sorted(lane.spans.begin(), lane.spans.end(), firstFirst))
      std::stable_sort(lane.spans.begin(), lane.spans.end(), firstFirst);
    lane.extent = extentOf(lane.spans);
  }
}

class Reader {
 public:
  Reader(const store::Database& trace, ScopeDimensions dimensions)
      : trace_(trace), dimensions_(dimensions) {}

  Result<TraceEvents> read() {
    SONDE_TRY(readPlaces());
    SONDE_TRY(readSlices());
    SONDE_TRY(readKernels());
    SONDE_TRY(readWork("SELECT stream_id, start_ns, dur_ns, scope_id FROM copy"));
    SONDE_TRY(readTransfers());
    SONDE_TRY(readIterations(trace_, events_));
    for (ProcessEvents& process : events_.processes)
      putInOrder(process);
    std::erase_if(events_.processes, [](const ProcessEvents& process) { return process.empty(); });
    return std::move(events_);
  }

 private:
  struct ThreadPlace {
    std::size_t process;
    std::size_t thread;
  };

  template <typename Each>
  Result<void> forEach(std::string_view sql, Each each) {
    return store::forEachRow(trace_, sql, each);
  }

  Result<void> readPlaces();
  Result<void> readSlices();
  Result<void> addSlice(const Statement& row);
  const ThreadPlace* placeOf(std::int64_t threadId);
  Result<void> readKernels();
  Result<void> readWork(std::string_view sql);
  Result<void> readTransfers();
  Result<void> addWork(DeviceLane& lane, const Statement& row, Category category);
  DeviceLane& laneOf(std::size_t process, bool isStream, std::int64_t id);

  static Result<std::uint32_t> shortId(std::int64_t id) {
    if (id < 0 || id > std::numeric_limits<std::uint32_t>::max())
      return Error{ErrorCode::Corrupt,
                   fmt::format("the trace is damaged: it names a row {}, and there is none", id)};
    return static_cast<std::uint32_t>(id);
  }
  const store::Database& trace_;
  ScopeDimensions dimensions_;
  TraceEvents events_;
  std::unordered_map<std::int64_t, ThreadPlace> threads_;
  std::unordered_map<std::int64_t, std::size_t> streams_;   // their processes
  std::unordered_map<std::int64_t, std::size_t> channels_;  // their processes
  std::unordered_map<std::int64_t, std::int64_t> atMost_;   // of slices whose end was lost
  std::pair<std::int64_t, const ThreadPlace*> lastThread_;
  // By isStream and id: the process, and the place in it.
  using LanePlace = std::pair<std::size_t, std::size_t>;
  std::map<std::pair<bool, std::int64_t>, LanePlace> lanes_;
  std::pair<std::pair<bool, std::int64_t>, LanePlace> lastLane_{{false, INT64_MIN}, {}};
  store::LastText<std::optional<SliceKind>> kinds_;
  store::LastText<std::string> categories_;
};

Result<void> Reader::readPlaces() {
  std::unordered_map<std::int64_t, std::size_t> processes;
  SONDE_TRY(forEach("SELECT id, pid, rank, parent_id, start_ns, end_ns FROM process ORDER BY id",
                    [&](const Statement& row) -> Result<void> {
                      processes.emplace(row.integer(0), events_.processes.size());
                      events_.processes.push_back({row.integer(0),
                                                   row.integer(1),
                                                   row.optionalInteger(2),
                                                   row.optionalInteger(3),
                                                   row.optionalInteger(4),
                                                   row.optionalInteger(5),
                                                   Scopes(dimensions_),
                                                   {},
                                                   {},
                                                   {},
                                                   {},
                                                   0});
                      return {};
                    }));
  const auto owners = [&](std::string_view sql, auto& into) {
    return forEach(sql, [&](const Statement& row) -> Result<void> {
      if (const auto owner = processes.find(row.integer(1)); owner != processes.end())
        into.emplace(row.integer(0), owner->second);
      return {};
    });
  };
  SONDE_TRY(owners("SELECT id, process_id FROM stream", streams_));
  SONDE_TRY(owners("SELECT id, process_id FROM channel", channels_));
  return forEach("SELECT id, process_id, tid FROM thread",
                 [&](const Statement& row) -> Result<void> {
                   const auto owner = processes.find(row.integer(1));
                   if (owner == processes.end())
                     return {};
                   std::vector<HostThread>& threads = events_.processes[owner->second].threads;
                   threads_.emplace(row.integer(0), ThreadPlace{owner->second, threads.size()});
                   threads.push_back({row.integer(0), row.integer(2), false, {}, {}});
                   return {};
                 });
}

Result<void> Reader::readSlices() {
  SONDE_TRY(forEach(fmt::format("SELECT a.owner_id, a.value FROM arg a JOIN string k ON k.id = "
                                "a.key_id WHERE k.text = '{}' AND a.owner = 'slice'",
                                model::kAtMostKey),
                    [&](const Statement& row) -> Result<void> {
                      atMost_.emplace(row.integer(0), row.integer(1));
                      return {};
                    }));
  return forEach(
      "SELECT id, thread_id, kind, category, name_id, start_ns, dur_ns, scope_id, depth "
      "FROM slice ORDER BY rowid",
      [&](const Statement& row) { return addSlice(row); });
}

const Reader::ThreadPlace* Reader::placeOf(std::int64_t threadId) {
  if (lastThread_.first != threadId) {
    const auto place = threads_.find(threadId);
    lastThread_ = {threadId, place == threads_.end() ? nullptr : &place->second};
  }
  return lastThread_.second;
}

Result<void> Reader::addSlice(const Statement& row) {
  const ThreadPlace* place = placeOf(row.integer(1));
  const auto kind = kinds_.of(row.text(2), model::sliceKindOf);
  if (place == nullptr || !kind)
    return {};
  ProcessEvents& process = events_.processes[place->process];
  HostThread& thread = process.threads[place->thread];
  const std::int64_t id = row.integer(0);
  const bool isScope = model::isScope(*kind);
  SONDE_TRY_ASSIGN(const std::uint32_t around, shortId(row.integer(7)));
  SONDE_TRY_ASSIGN(const std::uint32_t scope,
                   isScope ? shortId(id) : Result<std::uint32_t>(around));
  SONDE_TRY_ASSIGN(const std::uint32_t name, shortId(row.integer(4)));
  if (isScope)
    process.scopes.add({scope, around, name, *kind});
  const std::string& words =
      categories_.of(row.text(3), [](std::string_view text) { return std::string(text); });
  const auto category = hostCategory(*kind, words, false);
  if (!category)
    return {};
  const std::int64_t begin = row.integer(5);
  std::int64_t end = kOpenEnd;
  if (!row.isNull(6)) {
    end = endOf(begin, row.integer(6));
    events_.negative += row.integer(6) < 0 ? 1 : 0;
  } else if (const auto most = atMost_.find(id); most != atMost_.end()) {
    end = endOf(begin, most->second);
  }
  SONDE_TRY(checkTimes(begin, end));
  thread.transitions |= *kind == SliceKind::Python && *category != Category::Python;
  thread.slices.push_back(
      {begin,
       end,
       scope,
       static_cast<std::uint16_t>(std::clamp<std::int64_t>(row.integer(8), 0, 0xffff)),
       *kind,
       *category});
  return {};
}

DeviceLane& Reader::laneOf(std::size_t process, bool isStream, std::int64_t id) {
  if (lastLane_.first != std::pair(isStream, id)) {
    std::vector<DeviceLane>& lanes = events_.processes[process].device;
    const auto [place, isNew] = lanes_.try_emplace({isStream, id}, process, lanes.size());
    if (isNew)
      lanes.push_back({isStream, id, {}, {}});
    lastLane_ = *place;
  }
  return events_.processes[lastLane_.second.first].device[lastLane_.second.second];
}

// The first columns of `row`: whose it is, begin, length, scope.
Result<void> Reader::addWork(DeviceLane& lane, const Statement& row, Category category) {
  if (row.isNull(2))
    return {};
  const std::int64_t begin = row.integer(1);
  const std::int64_t end = endOf(begin, row.integer(2));
  events_.negative += row.integer(2) < 0 ? 1 : 0;
  SONDE_TRY(checkTimes(begin, end));
  SONDE_TRY_ASSIGN(const std::uint32_t scope, shortId(row.integer(3)));
  lane.spans.push_back({begin, end, scope, category});
  return {};
}

Result<void> Reader::readKernels() {
  std::unordered_set<std::int64_t> names;
  SONDE_TRY(forEach("SELECT id, text FROM string WHERE id IN (SELECT name_id FROM kernel)",
                    [&](const Statement& row) -> Result<void> {
                      if (model::isCollectiveKernel(row.text(1)))
                        names.insert(row.integer(0));
                      return {};
                    }));
  std::unordered_set<std::int64_t> kernels;
  SONDE_TRY(forEach("SELECT kernel_id FROM collective WHERE kernel_id IS NOT NULL",
                    [&](const Statement& row) -> Result<void> {
                      kernels.insert(row.integer(0));
                      return {};
                    }));
  return forEach("SELECT stream_id, start_ns, dur_ns, scope_id, id, name_id FROM kernel",
                 [&](const Statement& row) -> Result<void> {
                   const auto stream = streams_.find(row.integer(0));
                   const bool communicates =
                       names.contains(row.integer(5)) || kernels.contains(row.integer(4));
                   if (stream == streams_.end())
                     return {};
                   return addWork(laneOf(stream->second, true, row.integer(0)),
                                  row,
                                  communicates ? Category::Comm : Category::Compute);
                 });
}

Result<void> Reader::readWork(std::string_view sql) {
  return forEach(sql, [&](const Statement& row) -> Result<void> {
    if (const auto stream = streams_.find(row.integer(0)); stream != streams_.end())
      return addWork(laneOf(stream->second, true, row.integer(0)), row, Category::Copy);
    return {};
  });
}

// Those of collectives, and those of threads that work for an operation: a server's thread that
// waits for somebody to call moves no data of the algorithm's.
Result<void> Reader::readTransfers() {
  return forEach(
      "SELECT x.thread_id, x.start_ns, x.dur_ns, s.scope_id, x.channel_id FROM transfer x LEFT "
      "JOIN collective "
      "c "
      "ON c.id = x.collective_id LEFT JOIN slice s ON s.id = c.slice_id WHERE x.collective_id IS "
      "NOT NULL OR x.thread_id IN "
      "(SELECT thread_id FROM slice WHERE kind IN ('phase', 'operation', 'iteration', 'forward', "
      "'backward', 'optimizer', 'data_load', 'checkpoint', 'evaluation'))",
      [&](const Statement& row) -> Result<void> {
        if (const auto channel = channels_.find(row.integer(4)); channel != channels_.end())
          return addWork(laneOf(channel->second, false, row.integer(0)), row, Category::Net);
        return {};
      });
}

}  // namespace

bool ProcessEvents::empty() const noexcept {
  return device.empty() && iterations.empty() &&
         std::all_of(threads.begin(), threads.end(), [](const HostThread& thread) {
           return thread.slices.empty();
         });
}

Result<TraceEvents> readEvents(const store::Database& trace, ScopeDimensions dimensions) {
  return Reader(trace, dimensions).read();
}

}  // namespace sonde::engine::breakdown
