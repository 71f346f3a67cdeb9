// Aligns the clocks of a job's hosts. Reads what one host did after another, and computes for each
// host how to convert its times to those of the first host. Uses the database's thread.
#pragma once

#include "analysis/engine/align/fitted_clocks.h"
#include "analysis/model/place.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::align {

struct HostAlignment {
  std::int64_t hostId = 0;
  std::string host;  // its name
  FittedClock::Known known = FittedClock::Known::Nothing;
  // If known on both sides. The first piece begins with the host's first time. Drifts in ppb have
  // been rounded; a piece ends before that moves times by a microsecond.
  std::vector<model::ClockMap> pieces;
  std::int64_t errorNs = 0;               // half the range that the offset lies in
  std::int64_t residualNs = 0;            // by how much the worst bound is violated; 0: none is
  std::int64_t messages = 0;              // to and from other hosts
  std::int64_t collectives = 0;           // with ranks of other hosts
  std::optional<std::int64_t> atLeastNs;  // if known on one side: the bound of the offset
  std::optional<std::int64_t> atMostNs;
};

struct Alignment {
  std::vector<HostAlignment> hosts;            // by id; the first is the reference
  std::optional<Contradiction> contradiction;  // then the pieces do not fit

  // Whether there are other hosts, and the clock of at least one of them is known.
  bool isUseful() const noexcept;
  std::int64_t worstResidualNs() const noexcept;
  // The names of the hosts that nothing connects with the first one.
  std::vector<std::string> unconnected() const;
  // Why no clock could be aligned, and the remedy, in one line. Empty: some were, or there is one
  // host.
  std::string obstacle() const;
};

// Requires: the ends of channels have been matched (sonde merge). Does not read `clock_map`.
Result<Alignment> alignHosts(const store::Database& trace);

// Replaces the rows of `clock_map` with the pieces of the aligned hosts. If the alignment is not
// useful, or contradicts itself, no rows remain. Requires: a transaction.
Result<void> storeClockMap(store::Database& trace, const Alignment& alignment);

}  // namespace sonde::engine::align
