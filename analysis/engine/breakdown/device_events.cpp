#include "analysis/engine/breakdown/device_events.h"

#include "analysis/engine/breakdown/event_times.h"
#include "analysis/model/event.h"
#include "analysis/store/each_row.h"

#include <fmt/format.h>

#include <limits>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>

namespace sonde::engine::breakdown {
namespace {

using store::Statement;

class DeviceReader {
 public:
  DeviceReader(const store::Database& trace,
               const LaneOwners& owners,
               const store::CommunicationKernels& communication,
               std::size_t processes)
      : trace_(trace), owners_(owners), communication_(communication) {
    events_.lanes.resize(processes);
  }

  Result<DeviceEvents> read() {
    SONDE_TRY(readKernels());
    SONDE_TRY(readCopies());
    SONDE_TRY(readTransfers());
    return std::move(events_);
  }

 private:
  template <typename Each>
  Result<void> forEach(std::string_view sql, Each each) {
    return store::forEachRow(trace_, sql, each);
  }

  Result<void> readKernels();
  Result<void> readCopies();
  Result<void> readTransfers();
  Result<void> addWork(DeviceLane& lane, const Statement& row, Category category);
  DeviceLane& laneOf(std::size_t process, bool isStream, std::int64_t id);

  const store::Database& trace_;
  const LaneOwners& owners_;
  const store::CommunicationKernels& communication_;
  DeviceEvents events_;
  // Includes the process: all unknown threads share one id.
  using LaneKey = std::tuple<std::size_t, bool, std::int64_t>;
  std::map<LaneKey, std::size_t> lanes_;  // places among those of the process
  std::pair<LaneKey, std::size_t> lastLane_{{0, false, INT64_MIN}, 0};
};

DeviceLane& DeviceReader::laneOf(std::size_t process, bool isStream, std::int64_t id) {
  std::vector<DeviceLane>& lanes = events_.lanes[process];
  const LaneKey key{process, isStream, id};
  if (lastLane_.first != key) {
    const auto [place, isNew] = lanes_.try_emplace(key, lanes.size());
    if (isNew)
      lanes.push_back({isStream, id, {}, {}});
    lastLane_ = *place;
  }
  return lanes[lastLane_.second];
}

// The first columns of `row` are the owner, begin, length and scope.
Result<void> DeviceReader::addWork(DeviceLane& lane, const Statement& row, Category category) {
  const auto length = row.optionalInteger(2);
  if (!length) {
    ++events_.endsUnknown;
    return {};
  }
  const std::int64_t begin = row.integer(1);
  const std::int64_t end = endOf(begin, *length);
  events_.negative += *length < 0 ? 1 : 0;
  SONDE_TRY(checkTimes(begin, end));
  SONDE_TRY_ASSIGN(const std::uint32_t scope, shortId(row.integer(3)));
  lane.spans.push_back({begin, end, scope, category});
  return {};
}

Result<void> DeviceReader::readKernels() {
  std::unordered_set<std::int64_t> names;
  SONDE_TRY(forEach("SELECT id, text FROM string WHERE id IN (SELECT name_id FROM kernel)",
                    [&](const Statement& row) -> Result<void> {
                      if (communication_.holds(row.text(1)))
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
                   const auto stream = owners_.streams.find(row.integer(0));
                   const bool communicates =
                       names.contains(row.integer(5)) || kernels.contains(row.integer(4));
                   if (stream == owners_.streams.end())
                     return {};
                   return addWork(laneOf(stream->second, true, row.integer(0)),
                                  row,
                                  communicates ? Category::Comm : Category::Compute);
                 });
}

Result<void> DeviceReader::readCopies() {
  return forEach("SELECT stream_id, start_ns, dur_ns, scope_id FROM copy",
                 [&](const Statement& row) -> Result<void> {
                   if (const auto stream = owners_.streams.find(row.integer(0));
                       stream != owners_.streams.end())
                     return addWork(
                         laneOf(stream->second, true, row.integer(0)), row, Category::Copy);
                   return {};
                 });
}

// Reads the transfers of collectives and of threads that work for an operation. A server thread
// that waits for calls moves no data for the algorithm.
Result<void> DeviceReader::readTransfers() {
  return forEach(
      "SELECT x.thread_id, x.start_ns, x.dur_ns, s.scope_id, x.channel_id FROM transfer x LEFT "
      "JOIN collective "
      "c "
      "ON c.id = x.collective_id LEFT JOIN slice s ON s.id = c.slice_id WHERE x.collective_id IS "
      "NOT NULL OR x.thread_id IN "
      "(SELECT thread_id FROM slice WHERE kind IN ('phase', 'operation', 'iteration', 'forward', "
      "'backward', 'optimizer', 'data_load', 'checkpoint', 'evaluation'))",
      [&](const Statement& row) -> Result<void> {
        if (const auto channel = owners_.channels.find(row.integer(4));
            channel != owners_.channels.end())
          return addWork(laneOf(channel->second, false, row.integer(0)), row, Category::Net);
        return {};
      });
}

}  // namespace

Result<DeviceEvents> readDeviceEvents(const store::Database& trace,
                                      const LaneOwners& owners,
                                      const store::CommunicationKernels& communication,
                                      std::size_t processes) {
  return DeviceReader(trace, owners, communication, processes).read();
}

Result<std::uint32_t> shortId(std::int64_t id) {
  if (id < 0 || id > std::numeric_limits<std::uint32_t>::max())
    return Error{
        ErrorCode::Corrupt,
        fmt::format("the trace is damaged: it refers to row {}, which does not exist", id)};
  return static_cast<std::uint32_t>(id);
}

}  // namespace sonde::engine::breakdown
