#include "analysis/engine/diff/device_times.h"

#include "analysis/engine/breakdown/scopes.h"
#include "analysis/engine/intervals/intervals.h"
#include "analysis/model/words.h"
#include "analysis/store/communication_kernels.h"
#include "analysis/store/statement.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace sonde::engine::diff {
namespace {

using store::Statement;

// The operation that a scope is, or is inside of: the id of its name, 0 for none.
class OperationOf {
 public:
  explicit OperationOf(Statement slice) : slice_(std::move(slice)) {}

  Result<std::int64_t> operator()(std::int64_t scope) {
    std::vector<std::int64_t> chain;
    std::int64_t name = 0;
    while (scope != 0) {
      // Scopes on the way map to no operation yet. So a chain that leads back to itself ends there,
      // which only a damaged file has.
      const auto [known, isNew] = names_.try_emplace(scope, 0);
      if (!isNew) {
        name = known->second;
        break;
      }
      chain.push_back(scope);
      slice_.bind(1, scope);
      SONDE_TRY_ASSIGN(const bool row, slice_.step());
      const auto kind = row ? model::sliceKindOf(slice_.text(0)) : std::nullopt;
      const bool found = kind && breakdown::isOperation(*kind);
      name = found ? slice_.integer(1) : 0;
      scope = found || !row ? 0 : slice_.integer(2);
      slice_.reset();
    }
    for (const std::int64_t each : chain)
      names_[each] = name;
    return name;
  }

 private:
  Statement slice_;
  std::unordered_map<std::int64_t, std::int64_t> names_;
};

class DeviceReader {
 public:
  DeviceReader(const store::Database& trace,
               const Dimensions& by,
               OperationOf operationOf,
               const std::vector<metrics::Clock>& clocks,
               Ledger& ledger)
      : trace_(trace),
        by_(by),
        operationOf_(std::move(operationOf)),
        clocks_(clocks),
        ledger_(ledger) {}

  Result<void> run() {
    SONDE_TRY(readCollectives());
    SONDE_TRY(readKernels());
    if (by_.operation) {
      SONDE_TRY(readCopies());
    }
    return putDown();
  }

 private:
  // Work of one kind for one operation; names by id.
  using Key = std::tuple<Place, Kind, std::int64_t>;
  struct Work {
    std::int64_t streamId;
    metrics::Interval time;  // as recorded
  };

  Result<void> readCollectives();
  Result<void> readKernels();
  Result<void> readCopies();
  Result<void> addKernel(Place place, std::int64_t name, const Statement& row);
  Result<void> addWork(Place place, Kind kind, const Statement& row);
  Amount busyOf(const std::vector<Work>& work) const;
  metrics::Interval timeOf(const Work& work, const metrics::Clock& clock) const;
  Result<void> putDown();
  Result<std::string> nameOf(std::int64_t id);

  const store::Database& trace_;
  const Dimensions& by_;
  OperationOf operationOf_;
  const std::vector<metrics::Clock>& clocks_;
  Ledger& ledger_;
  std::unordered_set<std::int64_t> collectives_;         // kernels
  std::unordered_map<std::int64_t, bool> isCollective_;  // by name
  std::unordered_map<std::int64_t, std::string> names_;
  std::map<Key, std::vector<Work>> work_;
  // Sums of durations, by clock.
  std::map<std::pair<Place, std::int64_t>, std::vector<std::int64_t>> kernels_;
};

Result<void> DeviceReader::readCollectives() {
  SONDE_TRY_ASSIGN(Statement rows,
                   trace_.prepare("SELECT kernel_id FROM collective WHERE kernel_id IS NOT NULL"));
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      return {};
    collectives_.insert(rows.integer(0));
  }
}

// Columns 0 to 5 are the same for kernels and copies: process, begin, length, scope, launch time,
// stream.
Result<void> DeviceReader::readKernels() {
  SONDE_TRY_ASSIGN(
      Statement rows,
      trace_.prepare(
          "SELECT r.process_id, k.start_ns, k.dur_ns, k.scope_id, coalesce(l.start_ns, "
          "k.start_ns), k.stream_id, k.id, k.name_id FROM kernel k JOIN stream r ON r.id = "
          "k.stream_id LEFT JOIN slice l ON l.id = k.launch_slice_id WHERE k.dur_ns > 0"));
  SONDE_TRY_ASSIGN(const auto communication, store::CommunicationKernels::read(trace_));
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      return {};
    const auto place = ledger_.byTime(rows.integer(0), rows.integer(4));
    if (!place)
      continue;
    const std::int64_t name = rows.integer(7);
    if (by_.kernel)
      SONDE_TRY(addKernel(*place, name, rows));
    if (!by_.operation)
      continue;
    auto known = isCollective_.find(name);
    if (known == isCollective_.end()) {
      SONDE_TRY_ASSIGN(const std::string text, nameOf(name));
      known = isCollective_.emplace(name, communication.holds(text)).first;
    }
    const bool communicates = known->second || collectives_.contains(rows.integer(6));
    SONDE_TRY(addWork(*place, communicates ? Kind::Comm : Kind::Compute, rows));
  }
}

Result<void> DeviceReader::readCopies() {
  SONDE_TRY_ASSIGN(
      Statement rows,
      trace_.prepare("SELECT r.process_id, c.start_ns, c.dur_ns, c.scope_id, coalesce(l.start_ns, "
                     "c.start_ns), c.stream_id FROM copy c JOIN stream r ON r.id = c.stream_id "
                     "LEFT JOIN slice "
                     "l ON l.id = c.launch_slice_id WHERE c.dur_ns > 0"));
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, rows.step());
    if (!row)
      return {};
    const auto place = ledger_.byTime(rows.integer(0), rows.integer(4));
    if (!place)
      continue;
    SONDE_TRY(addWork(*place, Kind::Copy, rows));
  }
}

Result<void> DeviceReader::addWork(Place place, Kind kind, const Statement& row) {
  SONDE_TRY_ASSIGN(const std::int64_t operation, operationOf_(row.integer(3)));
  SONDE_TRY_ASSIGN(const metrics::Interval time,
                   metrics::intervalOf(row.integer(1), row.integer(2)));
  work_[{place, kind, operation}].push_back({row.integer(5), time});
  return {};
}

Result<void> DeviceReader::addKernel(Place place, std::int64_t name, const Statement& row) {
  SONDE_TRY_ASSIGN(const metrics::Interval time,
                   metrics::intervalOf(row.integer(1), row.integer(2)));
  std::vector<std::int64_t>& sums = kernels_[{place, name}];
  sums.resize(clocks_.size(), 0);
  for (std::size_t at = 0; at < clocks_.size(); ++at) {
    const metrics::Interval told = timeOf({row.integer(5), time}, clocks_[at]);
    sums[at] += told.end - told.begin;
  }
  return {};
}

metrics::Interval DeviceReader::timeOf(const Work& work, const metrics::Clock& clock) const {
  return {clock.ofStream(work.streamId, work.time.begin),
          clock.ofStream(work.streamId, work.time.end)};
}

// Overlapping work counts once.
Amount DeviceReader::busyOf(const std::vector<Work>& work) const {
  std::vector<std::int64_t> byClock;
  for (const metrics::Clock& clock : clocks_) {
    metrics::Intervals intervals;
    intervals.reserve(work.size());
    for (const Work& each : work)
      intervals.push_back(timeOf(each, clock));
    byClock.push_back(metrics::totalLength(metrics::normalise(std::move(intervals))));
  }
  return amountOf(byClock);
}

Result<void> DeviceReader::putDown() {
  for (const auto& [key, work] : work_) {
    const auto& [place, kind, operation] = key;
    Subject subject{kind, {}, {}};
    if (operation != 0) {
      SONDE_TRY_ASSIGN(subject.name, nameOf(operation));
    }
    ledger_.add(place, subject, busyOf(work));
  }
  for (const auto& [key, sums] : kernels_) {
    SONDE_TRY_ASSIGN(const std::string name, nameOf(key.second));
    ledger_.add(key.first, {Kind::Kernel, {}, name}, amountOf(sums));
  }
  return {};
}

Result<std::string> DeviceReader::nameOf(std::int64_t id) {
  if (const auto known = names_.find(id); known != names_.end())
    return known->second;
  SONDE_TRY_ASSIGN(Statement row, trace_.prepare("SELECT text FROM string WHERE id = ?1"));
  row.bind(1, id);
  SONDE_TRY(row.step());
  return names_.emplace(id, std::string(row.text(0))).first->second;
}

}  // namespace

Result<void> addDeviceTimes(const store::Database& trace,
                            const Dimensions& by,
                            const std::vector<metrics::Clock>& clocks,
                            Ledger& ledger) {
  SONDE_TRY_ASSIGN(Statement slice,
                   trace.prepare("SELECT kind, name_id, scope_id FROM slice WHERE id = ?1"));
  return DeviceReader(trace, by, OperationOf(std::move(slice)), clocks, ledger).run();
}

}  // namespace sonde::engine::diff
