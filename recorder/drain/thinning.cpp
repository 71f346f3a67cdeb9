#include "recorder/drain/thinning.h"

#include "recorder/spool/host_clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <numbers>

namespace sonde::recorder {

void Thinning::update(double shareLeft,
                      const ClockTriple& now,
                      ImageSet& images,
                      RecorderNotes& notes) {
  constexpr std::uint32_t kMost = 1U << 20;
  const std::uint32_t before = oneOf_;
  for (; shareLeft < nextAt_ && oneOf_ < kMost; nextAt_ *= std::numbers::sqrt2 / 2)
    oneOf_ *= 2;
  if (oneOf_ == before)
    return;
  const auto every = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(std::uint64_t{capture_.every} * oneOf_, UINT32_MAX));
  images.recordEvery(every);
  notes.setMeta("thinned", std::to_string(oneOf_));
  notes.addNote(
      model::Severity::Warning,
      now.monotonicNs,
      fmt::format("at {} the trace had {:.0f} % of --max-size left ({:.4g} MiB): from then on {}",
                  timeOfDay(now),
                  100 * shareLeft,
                  static_cast<double>(limitBytes_) / (1 << 20),
                  describe(every)));
}

std::string Thinning::describe(std::uint32_t every) const {
  if (isOfRanges())
    return fmt::format("it has only one of {} ranges \"{}\", in full", every, capture_.range);
  return fmt::format(
      "it has one of {} iterations in full, the times of the others, and one of {} seconds of "
      "processes without iterations",
      every,
      oneOf_);
}

// Uses the time of day, so that the ranks of a job, each of which may have its own trace, record
// the same seconds.
void Thinning::sliceTime(std::int64_t realtimeNs, ImageSet& images) const {
  constexpr std::int64_t kSliceNs = 1'000'000'000;
  if (!isOfRanges())
    images.recordOthers(realtimeNs / kSliceNs % oneOf_ == 0);
}

}  // namespace sonde::recorder
