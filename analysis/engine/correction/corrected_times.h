// The times of a trace as they would have been without recording, and their errors. Reading uses
// the database's thread; the rest are plain values, for any thread.
#pragma once

#include "analysis/engine/correction/cost_table.h"
#include "analysis/engine/correction/error_interval.h"
#include "analysis/engine/correction/error_modes.h"
#include "analysis/engine/correction/recorded_program.h"
#include "analysis/engine/correction/timeline.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace sonde::engine::correction {

// One set of costs, applied. Ids are the trace's; an unknown id leaves times as they are.
class CorrectedTimes {
 public:
  CorrectedTimes(std::shared_ptr<const RecordedProgram> of, const std::vector<EventCost>& costs);

  std::int64_t ofThread(std::int64_t id, std::int64_t ns) const { return timesOfThread(id)(ns); }
  std::int64_t ofStream(std::int64_t id, std::int64_t ns) const { return timesOfStream(id)(ns); }
  // For times of the whole process, such as its end: uses the thread that drives it.
  std::int64_t ofProcess(std::int64_t id, std::int64_t ns) const { return timesOfProcess(id)(ns); }

  // The same, for many times in sequence (Timeline::Cursor).
  const Timeline& timesOfThread(std::int64_t id) const { return of(of_->ofThread, id); }
  const Timeline& timesOfStream(std::int64_t id) const { return of(of_->ofStream, id); }
  const Timeline& timesOfProcess(std::int64_t id) const { return of(of_->ofProcess, id); }

  const std::shared_ptr<const RecordedProgram>& program() const noexcept { return of_; }

 private:
  const Timeline& of(const std::unordered_map<std::int64_t, LaneIndex>& lanes,
                     std::int64_t id) const {
    static const Timeline kAsRecorded;
    const auto lane = lanes.find(id);
    return lane == lanes.end() ? kAsRecorded : lanes_[lane->second];
  }

  std::shared_ptr<const RecordedProgram> of_;
  std::vector<Timeline> lanes_;
};

// Applies the known costs of recording to a trace.
//
// To sum up times, sum them with `times`, and again for each cause of error with its timesWith()
// one standard error higher and lower. ErrorInterval makes an interval of these sums.
class Correction {
 public:
  Correction(CostTable table, RecordedProgram program);

  std::vector<MeasuredCost> costs;            // of the events in the trace
  std::map<CostClass, std::int64_t> unknown;  // events of unknown cost; they count as free
  CorrectedTimes times;
  Unexplained unexplained;

  const CostTable& table() const noexcept { return table_; }

  // The number of independent causes of error; small.
  std::size_t causes() const noexcept { return modes_.size(); }
  enum class Error { Higher, Lower };
  // Takes about as long as `times` did, and as much memory: keep one at a time.
  CorrectedTimes timesWith(std::size_t cause, Error error) const;

 private:
  std::shared_ptr<const RecordedProgram> program_;
  CostTable table_;
  std::vector<ErrorMode> modes_;
};

// `measured`: costs from elsewhere, which take precedence over the trace's. nullopt: no cost is
// known. Corrupt: the trace's values are not numbers.
Result<std::optional<Correction>> readCorrection(const store::Database& trace,
                                                 const CostSet* measured = nullptr);

}  // namespace sonde::engine::correction
