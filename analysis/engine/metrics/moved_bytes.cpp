#include "analysis/engine/metrics/moved_bytes.h"

#include "analysis/store/read_rows.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace sonde::engine::metrics {
namespace {

struct MovedPiece {
  std::int64_t startNs = 0;
  std::optional<std::int64_t> bytes;

  SONDE_COLUMNS(startNs, bytes)
};

constexpr std::string_view kNetworkPieces =
    "SELECT t.start_ns, t.bytes FROM channel c JOIN transfer t ON t.channel_id = c.id WHERE"
    " c.process_id = ?1 AND c.kind IN ('tcp', 'mpi', 'nccl')";
constexpr std::string_view kCollectivePieces =
    "SELECT start_ns, bytes FROM collective WHERE process_id = ?1 AND bytes IS NOT NULL";
constexpr std::string_view kHostCopies =
    "SELECT k.start_ns, k.bytes FROM stream s JOIN copy k ON k.stream_id = s.id WHERE"
    " s.process_id = ?1 AND k.kind IN ('host_to_device', 'device_to_host')";

// The index of the iteration that has begun last by then, if it has not ended.
std::optional<std::size_t> iterationAt(const RankProcess& rank, std::int64_t ns) {
  const auto& all = rank.iterations;
  const auto after =
      std::upper_bound(all.begin(), all.end(), ns, [](std::int64_t at, const IterationTime& each) {
        return at < each.startNs;
      });
  if (after == all.begin() || ns >= std::prev(after)->startNs + std::prev(after)->durNs)
    return {};
  return static_cast<std::size_t>(std::distance(all.begin(), after) - 1);
}

struct PieceCounts {
  std::int64_t sized = 0;
  std::int64_t unsized = 0;
};

Result<PieceCounts> addPieces(const store::Database& trace,
                              const RankProcess& rank,
                              std::string_view sql,
                              std::vector<std::int64_t>& sums) {
  PieceCounts counts;
  SONDE_TRY_ASSIGN(store::Statement rows, trace.prepare(sql));
  rows.bind(1, rank.processId);
  SONDE_TRY(store::forEach<MovedPiece>(rows, [&](const MovedPiece& piece) {
    const auto at = iterationAt(rank, piece.startNs);
    if (!at)
      return;
    ++(piece.bytes ? counts.sized : counts.unsized);
    sums[*at] += piece.bytes.value_or(0);
  }));
  return counts;
}

}  // namespace

Result<MovedBytes> movedBytes(const store::Database& trace, const RankProcess& rank) {
  MovedBytes moved;
  moved.network.resize(rank.iterations.size());
  moved.copies.resize(rank.iterations.size());
  SONDE_TRY_ASSIGN(PieceCounts counts, addPieces(trace, rank, kNetworkPieces, moved.network));
  if (counts.sized == 0) {
    SONDE_TRY_ASSIGN(counts, addPieces(trace, rank, kCollectivePieces, moved.network));
    moved.fromCollectives = counts.sized > 0;
  }
  moved.transfers = counts.sized;
  SONDE_TRY_ASSIGN(counts, addPieces(trace, rank, kHostCopies, moved.copies));
  moved.copied = counts.sized;
  moved.unsized = counts.unsized;
  return moved;
}

}  // namespace sonde::engine::metrics
