#include "analysis/engine/device/device_work.h"

#include "analysis/model/words.h"
#include "analysis/store/communication_kernels.h"
#include "analysis/store/statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace sonde::engine::device {
namespace {

using store::Statement;

// Columns of kernels and copies alike; a copy has more after them.
constexpr std::string_view kWorkColumns =
    "w.stream_id, w.start_ns, w.dur_ns, w.name_id, w.scope_id, w.bytes, l.id, l.start_ns, l.dur_ns,"
    " l.name_id";
constexpr int kFirstOwnColumn = 10;

std::string workSql(std::string_view table, std::string_view more) {
  return fmt::format(
      "SELECT {}, {} FROM stream s CROSS JOIN {} w ON w.stream_id = s.id LEFT JOIN slice l "
      "ON l.id = w.launch_slice_id WHERE s.process_id = ?1",
      kWorkColumns,
      more,
      table);
}

// A wait for an event. Its record is a row of its own; in files of torch.profiler the wait's
// arguments name the call instead.
constexpr std::string_view kWaitsSql =
    "SELECT w.stream_id, w.start_ns, r.start_ns, r.stream_id FROM sync w JOIN sync r ON r.id = "
    "w.waits_for_id WHERE w.process_id = ?1 AND w.kind = 'wait' AND w.stream_id IS NOT NULL AND "
    "r.stream_id IS NOT NULL "
    "UNION ALL SELECT w.stream_id, w.start_ns, c.start_ns, o.id FROM sync w JOIN arg a ON a.owner "
    "= 'sync' AND a.owner_id = w.id JOIN stream s ON s.id = w.stream_id JOIN stream o ON "
    "o.process_id = s.process_id AND o.device_id IS s.device_id AND o.number = "
    "json_extract(a.value, '$.wait_on_stream') JOIN slice c ON c.correlation_id = "
    "json_extract(a.value, '$.wait_on_cuda_event_record_corr_id') JOIN thread t ON t.id = "
    "c.thread_id AND t.process_id = w.process_id WHERE w.process_id = ?1 AND w.kind = 'wait' AND "
    "w.waits_for_id IS NULL AND json_valid(a.value) ORDER BY 2";

std::int64_t endOf(std::int64_t begin, std::optional<std::int64_t> duration) noexcept {
  return begin + std::max<std::int64_t>(duration.value_or(0), 0);
}

class Reader {
 public:
  Reader(const store::Database& trace, std::int64_t processId)
      : trace_(trace), processId_(processId) {}

  Result<std::vector<DeviceWork>> read() {
    SONDE_TRY(readCollectiveKernels());
    SONDE_TRY(readStreams());
    SONDE_TRY(each(workSql("kernel", "w.id"), [&](const Statement& row) {
      const bool communicates = collectiveNames_.contains(row.integer(3)) ||
                                collectiveKernels_.contains(row.integer(kFirstOwnColumn));
      add(row, communicates ? WorkKind::Communication : WorkKind::Compute);
    }));
    SONDE_TRY(each(workSql("copy", "w.kind, w.pinned"), [&](const Statement& row) {
      Work& copy = add(row, WorkKind::Copy);
      copy.copyKind = row.text(kFirstOwnColumn);
      if (const auto pinned = row.optionalInteger(kFirstOwnColumn + 1))
        copy.pinned = *pinned != 0;
    }));
    SONDE_TRY(each(kWaitsSql, [&](const Statement& row) {
      streams_[row.integer(0)].waits.push_back({row.integer(1), row.integer(2), row.integer(3)});
    }));
    return gathered();
  }

 private:
  template <typename Use>
  Result<void> each(std::string_view sql, Use use) {
    SONDE_TRY_ASSIGN(Statement rows, trace_.prepare(sql));
    rows.bindAll(processId_);
    while (true) {
      SONDE_TRY_ASSIGN(const bool row, rows.step());
      if (!row)
        return {};
      use(rows);
    }
  }

  // A kernel is a collective's by its name, as in breakdowns, or because a collective refers to it
  // (other libraries).
  Result<void> readCollectiveKernels() {
    SONDE_TRY_ASSIGN(const auto communication, store::CommunicationKernels::read(trace_));
    SONDE_TRY(
        each("SELECT DISTINCT n.id, n.text FROM stream s JOIN kernel k ON k.stream_id = s.id "
             "JOIN string n ON n.id = k.name_id WHERE s.process_id = ?1",
             [&](const Statement& row) {
               if (communication.holds(row.text(1)))
                 collectiveNames_.insert(row.integer(0));
             }));
    return each("SELECT kernel_id FROM collective WHERE process_id = ?1 AND kernel_id IS NOT NULL",
                [&](const Statement& row) { collectiveKernels_.insert(row.integer(0)); });
  }

  Result<void> readStreams() {
    return each(
        "SELECT s.id, s.number, d.kind, d.ordinal FROM stream s LEFT JOIN device d ON d.id = "
        "s.device_id WHERE s.process_id = ?1",
        [&](const Statement& row) {
          streams_[row.integer(0)].number = row.integer(1);
          const bool isKnown = !row.isNull(2);
          places_[row.integer(0)] = {
              row.integer(3),
              isKnown ? fmt::format("{} {}", row.text(2), row.integer(3)) : "device"};
        });
  }

  Work& add(const Statement& row, WorkKind kind) {
    Work work;
    work.kind = kind;
    work.begin = row.integer(1);
    work.end = endOf(work.begin, row.optionalInteger(2));
    work.nameId = row.integer(3);
    work.scopeId = row.integer(4);
    work.bytes = row.optionalInteger(5);
    if (!row.isNull(6))
      work.launch = Launch{row.integer(6),
                           row.integer(7),
                           endOf(row.integer(7), row.optionalInteger(8)),
                           row.integer(9)};
    std::vector<Work>& stream = streams_[row.integer(0)].work;
    stream.push_back(std::move(work));
    return stream.back();
  }

  std::vector<DeviceWork> gathered() {
    std::map<std::pair<std::int64_t, std::string>, DeviceWork> devices;
    for (auto& [id, stream] : streams_) {
      if (stream.work.empty())
        continue;
      stream.streamId = id;
      std::sort(stream.work.begin(), stream.work.end(), [](const Work& a, const Work& b) {
        return std::tie(a.begin, a.end, a.nameId) < std::tie(b.begin, b.end, b.nameId);
      });
      DeviceWork& device = devices[places_[id]];
      device.name = places_[id].second;
      device.streams.push_back(std::move(stream));
    }
    std::vector<DeviceWork> result;
    result.reserve(devices.size());
    for (auto& [place, device] : devices) {
      std::sort(device.streams.begin(),
                device.streams.end(),
                [](const StreamWork& a, const StreamWork& b) {
                  return std::tie(a.number, a.streamId) < std::tie(b.number, b.streamId);
                });
      result.push_back(std::move(device));
    }
    return result;
  }

  const store::Database& trace_;
  std::int64_t processId_;
  std::unordered_set<std::int64_t> collectiveNames_;
  std::unordered_set<std::int64_t> collectiveKernels_;
  std::unordered_map<std::int64_t, StreamWork> streams_;
  std::unordered_map<std::int64_t, std::pair<std::int64_t, std::string>> places_;  // by stream
};

}  // namespace

std::string_view word(WorkKind kind) noexcept {
  switch (kind) {
    case WorkKind::Compute:
      return "compute";
    case WorkKind::Communication:
      return "communication";
    case WorkKind::Copy:
      break;
  }
  return "copy";
}

Result<std::vector<DeviceWork>> readDevices(const store::Database& trace, std::int64_t processId) {
  return Reader(trace, processId).read();
}

}  // namespace sonde::engine::device
