// The traffic over channels, and whether all bytes that one end sent reached the other. Plain
// values; reading uses the database's thread.
#pragma once

#include "analysis/engine/metrics/ranks.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::metrics {

struct PeerTraffic {
  std::optional<std::int64_t> rank;  // of the process on this side
  std::string process;               // its name
  std::string kind;                  // tcp, unix, pipe …
  std::string peer;  // "rank 1"; "process 4711"; "4 processes" that moved bytes at the other end of
                     // one pipe or socket; or the address if that end was not recorded
  std::int64_t sentBytes = 0;
  std::int64_t receivedBytes = 0;
  std::int64_t transfers = 0;
  std::int64_t channels = 0;
};

// Covers the ranks' own channels that moved bytes, most bytes first.
Result<std::vector<PeerTraffic>> trafficOf(const store::Database& trace,
                                           const std::vector<RankProcess>& ranks);

// Covers channels with both ends recorded. In a trimmed trace only the range between bytes of both
// ends is compared, because each end was cut by its own process's time. Nothing is compared if the
// trace was recorded in part, or transfers were off during calibration.
struct Conservation {
  std::int64_t pairs = 0;
  std::int64_t exactPairs = 0;  // the offset of every transfer at both ends is known
  std::int64_t agreeingPairs =
      0;  // exact pairs in which both ends have the same bytes in each direction, each byte once
  std::int64_t sentBytes = 0;     // over exact pairs
  std::int64_t missingBytes = 0;  // sent, but not received
  std::int64_t unsentBytes = 0;   // received, but not sent
};

Result<Conservation> conservationOf(const store::Database& trace);

}  // namespace sonde::engine::metrics
