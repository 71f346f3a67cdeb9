// The times of a trace as they would have been without recording, and how well that is known.
// Reading uses the database's thread; the times are plain values, for any thread.
#pragma once

#include "analysis/base/result.h"
#include "analysis/engine/correction/cost_table.h"
#include "analysis/engine/correction/recorded_program.h"
#include "analysis/engine/correction/timeline.h"
#include "analysis/store/database.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace sonde::engine::correction {

// One set of costs applied. Ids are those of the trace; those of nothing in it leave times alone.
class CorrectedTimes {
 public:
  CorrectedTimes(std::shared_ptr<const RecordedProgram> of, const std::vector<EventCost>& costs);

  std::int64_t ofThread(std::int64_t id, std::int64_t ns) const {
    return at(of_->ofThread, id, ns);
  }
  std::int64_t ofStream(std::int64_t id, std::int64_t ns) const {
    return at(of_->ofStream, id, ns);
  }
  // Of what is the process's as a whole, as its end: by the thread that drives it.
  std::int64_t ofProcess(std::int64_t id, std::int64_t ns) const {
    return at(of_->ofProcess, id, ns);
  }

 private:
  std::int64_t at(const std::unordered_map<std::int64_t, LaneIndex>& lanes,
                  std::int64_t id,
                  std::int64_t ns) const;

  std::shared_ptr<const RecordedProgram> of_;
  std::vector<Timeline> lanes_;
};

struct Correction {
  std::vector<MeasuredCost> costs;
  std::map<CostClass, std::int64_t> unknown;  // events that count as free, since nobody knows
  CorrectedTimes times;
  // What the times would be had one cause of error (CostTable::errorModes) come out one standard
  // error higher. The squares of the differences that this makes add up to a variance.
  std::vector<CorrectedTimes> modes;
};

// `measured`: costs from elsewhere, which count before those of the trace. nullopt: nobody says
// what anything cost. Corrupt: what the trace says are no numbers.
Result<std::optional<Correction>> readCorrection(const store::Database& trace,
                                                 const CostSet* measured = nullptr);

}  // namespace sonde::engine::correction
