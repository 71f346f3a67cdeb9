#include "analysis/engine/breakdown/process_events.h"

#include "analysis/engine/breakdown/device_events.h"
#include "analysis/engine/breakdown/event_times.h"
#include "analysis/engine/breakdown/iteration_spans.h"
#include "analysis/model/event.h"
#include "analysis/store/each_row.h"
#include "analysis/store/last_text.h"
#include "analysis/store/recorded_parts.h"
#include "analysis/store/trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <string_view>
#include <system_error>
#include <tuple>
#include <unordered_map>
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

// Once is enough, since correction keeps the order.
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

class ProcessReader {
 public:
  ProcessReader(const store::Database& trace, ScopeDimensions dimensions)
      : trace_(trace), dimensions_(dimensions) {}

  Result<TraceEvents> read() {
    SONDE_TRY(readPlaces());
    std::future<Result<DeviceEvents>> device = beginDevices();
    const Result<void> slices = readSlices();
    SONDE_TRY_ASSIGN(DeviceEvents devices, device.get());
    SONDE_TRY(slices);
    for (std::size_t at = 0; at < events_.processes.size(); ++at)
      events_.processes[at].device = std::move(devices.lanes[at]);
    events_.negative += devices.negative;
    events_.endsUnknown = devices.endsUnknown;
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
  std::future<Result<DeviceEvents>> beginDevices() const;
  Result<void> readSlices();
  Result<void> addSlice(const Statement& row);
  const ThreadPlace* placeOf(std::int64_t threadId);

  const store::Database& trace_;
  ScopeDimensions dimensions_;
  TraceEvents events_;
  std::unordered_map<std::int64_t, ThreadPlace> threads_;
  LaneOwners owners_;
  std::unordered_map<std::int64_t, std::int64_t> atMost_;  // of slices whose end was lost
  std::pair<std::int64_t, const ThreadPlace*> lastThread_;
  store::LastText<std::optional<SliceKind>> kinds_;
  store::LastText<std::string> categories_;
};

Result<void> ProcessReader::readPlaces() {
  std::unordered_map<std::int64_t, std::size_t> processes;
  SONDE_TRY(
      forEach("SELECT p.id, p.pid, p.rank, h.name, p.command, p.parent_id, p.start_ns, "
              "p.end_ns FROM process p LEFT JOIN host h ON h.id = p.host_id ORDER BY p.id",
              [&](const Statement& row) -> Result<void> {
                processes.emplace(row.integer(0), events_.processes.size());
                events_.processes.push_back({row.integer(0),
                                             row.integer(1),
                                             row.optionalInteger(2),
                                             std::string(row.text(3)),
                                             std::string(row.text(4)),
                                             row.optionalInteger(5),
                                             row.optionalInteger(6),
                                             row.optionalInteger(7),
                                             std::nullopt,
                                             Scopes(dimensions_),
                                             {},
                                             {},
                                             {},
                                             {},
                                             0});
                return {};
              }));
  const auto keep = [&](const Statement& row) -> Result<void> {
    SONDE_TRY(checkTimes(row.integer(1), row.integer(2)));
    events_.processes[processes.at(row.integer(0))].kept = {row.integer(1), row.integer(2)};
    return {};
  };
  SONDE_TRY(forEach(store::kKeptSpansSql, keep));
  const auto owners = [&](std::string_view sql, auto& into) {
    return forEach(sql, [&](const Statement& row) -> Result<void> {
      if (const auto owner = processes.find(row.integer(1)); owner != processes.end())
        into.emplace(row.integer(0), owner->second);
      return {};
    });
  };
  SONDE_TRY(owners("SELECT id, process_id FROM stream", owners_.streams));
  SONDE_TRY(owners("SELECT id, process_id FROM channel", owners_.channels));
  return forEach("SELECT id, process_id, tid, coalesce(name, '') FROM thread",
                 [&](const Statement& row) -> Result<void> {
                   const auto owner = processes.find(row.integer(1));
                   if (owner == processes.end())
                     return {};
                   std::vector<HostThread>& threads = events_.processes[owner->second].threads;
                   threads_.emplace(row.integer(0), ThreadPlace{owner->second, threads.size()});
                   threads.push_back(
                       {row.integer(0), row.integer(2), std::string(row.text(3)), false, {}, {}});
                   return {};
                 });
}

// Reads on a connection of its own while slices are read; after them if a connection fails.
std::future<Result<DeviceEvents>> ProcessReader::beginDevices() const {
  // The user's patterns were given to this connection.
  const auto communication = store::CommunicationKernels::read(trace_);
  const auto read = [this, communication](const store::Database& trace) -> Result<DeviceEvents> {
    if (!communication)
      return communication.error();
    return readDeviceEvents(trace, owners_, *communication, events_.processes.size());
  };
  const auto readBeside = [this, read, isToStop = trace_.stopCheck()]() -> Result<DeviceEvents> {
    const auto own = store::openTrace(trace_.path());
    if (!own)
      return own.error();
    own->stopWhen(isToStop);
    return read(*own);
  };
  if (!trace_.path().empty()) {
    try {
      return std::async(std::launch::async, readBeside);
    } catch (const std::system_error&) {  // a limit of threads
    }
  }
  return std::async(std::launch::deferred, [this, read] { return read(trace_); });
}

Result<void> ProcessReader::readSlices() {
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

const ProcessReader::ThreadPlace* ProcessReader::placeOf(std::int64_t threadId) {
  if (lastThread_.first != threadId) {
    const auto place = threads_.find(threadId);
    lastThread_ = {threadId, place == threads_.end() ? nullptr : &place->second};
  }
  return lastThread_.second;
}

Result<void> ProcessReader::addSlice(const Statement& row) {
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
  if (const auto length = row.optionalInteger(6)) {
    end = endOf(begin, *length);
    events_.negative += *length < 0 ? 1 : 0;
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

}  // namespace

bool ProcessEvents::empty() const noexcept {
  return device.empty() && iterations.empty() &&
         std::all_of(threads.begin(), threads.end(), [](const HostThread& thread) {
           return thread.slices.empty();
         });
}

Result<TraceEvents> readEvents(const store::Database& trace, ScopeDimensions dimensions) {
  return ProcessReader(trace, dimensions).read();
}

}  // namespace sonde::engine::breakdown
