// A clock for the times of a trace: as recorded, or corrected for the cost of recording. Also
// combines one time by all clocks into a value with an interval. Reading uses the database's
// thread; then plain values, for any thread.
#pragma once

#include "analysis/engine/correction/corrected_times.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace sonde::engine::metrics {

// A view: its source must outlive it. Keeps the order of a thread's times.
class Clock {
 public:
  Clock() = default;  // as recorded
  explicit Clock(const correction::CorrectedTimes& times) noexcept : times_(&times) {}

  std::int64_t ofThread(std::int64_t id, std::int64_t ns) const {
    return times_ == nullptr ? ns : times_->ofThread(id, ns);
  }
  std::int64_t ofStream(std::int64_t id, std::int64_t ns) const {
    return times_ == nullptr ? ns : times_->ofStream(id, ns);
  }
  // For times of the whole process: its iterations, its end.
  std::int64_t ofProcess(std::int64_t id, std::int64_t ns) const {
    return times_ == nullptr ? ns : times_->ofProcess(id, ns);
  }

 private:
  const correction::CorrectedTimes* times_ = nullptr;
};

// A corrected time, the interval that holds 95 % of its errors, and the recorded time. All are
// equal if no cost is known.
struct CorrectedNs {
  std::int64_t ns = 0;
  std::int64_t rawNs = 0;
  std::int64_t lowNs = 0;
  std::int64_t highNs = 0;

  friend bool operator==(const CorrectedNs&, const CorrectedNs&) = default;
};

class Clocks {
 public:
  Clocks() = default;  // only as recorded
  // `measured`: costs from elsewhere, which take precedence over the trace's. Only as recorded if
  // no cost is known.
  static Result<Clocks> read(const store::Database& trace, const correction::CostSet* measured);

  // As recorded. If costs are known: then corrected, and then with each cause of error, first
  // higher and then lower by one standard error. Views of this object.
  std::vector<Clock> all() const;
  // Corrected if costs are known, else as recorded. A view of this object.
  Clock best() const { return correction_ ? Clock(correction_->times) : Clock(); }
  const std::optional<correction::Correction>& correction() const noexcept { return correction_; }
  correction::Unexplained unexplained() const {
    return correction_ ? correction_->unexplained : correction::Unexplained();
  }
  // The costs that read() was given; nullptr: none.
  const correction::CostSet* measured() const noexcept { return measured_ ? &*measured_ : nullptr; }

 private:
  std::optional<correction::Correction> correction_;
  std::vector<correction::CorrectedTimes> errors_;
  std::optional<correction::CostSet> measured_;
};

// One standard error of a time, given by each of Clocks::all(). 0 if it is only as recorded.
double standardError(const std::vector<std::int64_t>& byClock);
// Requires: `byClock` is not empty.
CorrectedNs withInterval(const std::vector<std::int64_t>& byClock,
                         const correction::Unexplained& unexplained = {});

}  // namespace sonde::engine::metrics
