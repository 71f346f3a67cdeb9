// Converts a host's job time to the common clock of a merged job, by the rows of `clock_map`. A
// plain value; any thread.
#pragma once

#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <vector>

namespace sonde::gui {

class HostClock {
 public:
  static Result<HostClock> read(const store::Database& trace, std::int64_t hostId);

  // The common time for a time of this host; the same time if the map has no entry.
  [[nodiscard]] std::int64_t toJob(std::int64_t hostNs) const;
  // The inverse, exact to the drift's rounding.
  [[nodiscard]] std::int64_t toHost(std::int64_t jobNs) const;

 private:
  struct Piece {
    std::int64_t fromNs;
    std::int64_t offsetNs;
    std::int64_t driftPpb;
  };
  std::vector<Piece> pieces_;  // by fromNs
};

}  // namespace sonde::gui
