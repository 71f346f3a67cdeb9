// Who sends how much to whom: the messages and streams of bytes between the processes of a job, by
// direction. Plain values; reading uses the database's thread. Memory: about 60 bytes a transfer.
//
// Both ends of a connection may have recorded the same bytes; they count once, as the sender moved
// them. If only the receiver was recorded, its calls count. Times are on the job's common clock.
#pragma once

#include "analysis/engine/intervals/intervals.h"
#include "analysis/engine/metrics/ranks.h"
#include "analysis/store/database.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sonde::engine::network {

struct LinkEnd {
  std::string name;  // "rank 3", "process 4711", "4 processes", or an address that was not recorded
  std::optional<std::int64_t> rank;  // of a rank's own process
};

struct Link {
  std::size_t from = 0;  // in Links::ends
  std::size_t to = 0;
  std::string kind;  // of the channel: tcp, unix, pipe, mpi, nccl; "call": sends of a library
  std::int64_t bytes = 0;
  std::int64_t messages = 0;  // calls of the sender; if it was not recorded, of the receiver
  // Some of the bytes were on their way: from the begin of a call that sent them to the end of the
  // call that received the last of them. If only one end was recorded, the time of its calls.
  std::int64_t busyNs = 0;
  std::optional<std::int64_t> medianLatencyNs;  // of these; unset: both ends are needed
  metrics::Interval longest{};                  // the longest of them

  // bytes / busyNs; unset: it took no time.
  [[nodiscard]] std::optional<double> bytesPerSecond() const noexcept;
};

struct Links {
  std::vector<LinkEnd> ends;  // ranks first, by number; then the others by name
  std::vector<Link> links;    // most bytes first
};

// Covers links with a rank at one end or both. Sends and receives of a communication library (NCCL,
// Gloo) count between two ends that recorded no transfers, which may be the same bytes. `within`:
// job time; only messages that share time with it count, but with all of their bytes and time: the
// bandwidth of a part is unknown.
Result<Links> readLinks(const store::Database& trace,
                        const std::vector<metrics::RankProcess>& ranks,
                        const std::optional<metrics::Interval>& within = {});

}  // namespace sonde::engine::network
