// By which clock the times of a trace are told: as they were recorded, or as they would have been
// without recording; and what is known of a time by all of these. Reading uses the database's
// thread; then plain values, for any thread.
#pragma once

#include "analysis/engine/correction/corrected_times.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace sonde::engine::metrics {

// A view: what it was made of has to outlive it. Never turns the order of a thread's times around.
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
  // Of what is the process's as a whole: its iterations, its end.
  std::int64_t ofProcess(std::int64_t id, std::int64_t ns) const {
    return times_ == nullptr ? ns : times_->ofProcess(id, ns);
  }

 private:
  const correction::CorrectedTimes* times_ = nullptr;
};

// Without what recording took, with the interval that 95 % of the errors of that stay within, and
// as recorded. All the same where nothing is known.
struct CorrectedNs {
  std::int64_t ns = 0;
  std::int64_t rawNs = 0;
  std::int64_t lowNs = 0;
  std::int64_t highNs = 0;

  friend bool operator==(const CorrectedNs&, const CorrectedNs&) = default;
};

class Clocks {
 public:
  Clocks() = default;  // as recorded alone
  // `measured`: costs from elsewhere, which count before those of the trace. As recorded alone
  // where nobody says what anything cost.
  static Result<Clocks> read(const store::Database& trace, const correction::CostSet* measured);

  // As recorded; then, where that is known, without what recording took, and with each cause of its
  // error, one standard error higher and then lower. Views of this.
  std::vector<Clock> all() const;
  // Without what recording took, where that is known, else as recorded. A view of this.
  Clock best() const { return correction_ ? Clock(correction_->times) : Clock(); }
  const std::optional<correction::Correction>& correction() const noexcept { return correction_; }
  correction::Unexplained unexplained() const {
    return correction_ ? correction_->unexplained : correction::Unexplained();
  }
  // What read() was given; nullptr: nothing.
  const correction::CostSet* measured() const noexcept { return measured_ ? &*measured_ : nullptr; }

 private:
  std::optional<correction::Correction> correction_;
  std::vector<correction::CorrectedTimes> errors_;
  std::optional<correction::CostSet> measured_;
};

// One standard error of what is `byClock`, by each of Clocks::all(). 0 of one that is as recorded
// alone.
double standardError(const std::vector<std::int64_t>& byClock);
// Requires: `byClock` is not empty.
CorrectedNs withInterval(const std::vector<std::int64_t>& byClock,
                         const correction::Unexplained& unexplained = {});

}  // namespace sonde::engine::metrics
