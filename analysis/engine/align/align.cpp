#include "analysis/engine/align/align.h"

#include "analysis/engine/align/read_bounds.h"
#include "analysis/model/times.h"
#include "analysis/store/read_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace sonde::engine::align {
namespace {

using Known = FittedClock::Known;

// A host and the times that it has.
struct HostSpan {
  std::int64_t id = 0;
  std::string name;
  std::optional<std::int64_t> beginNs;
  std::optional<std::int64_t> endNs;

  SONDE_COLUMNS(id, name, beginNs, endNs)
};

// Samples of a system may begin before its processes. Processes and threads begin with their first
// records.
constexpr const char* kHosts =
    "WITH time(host_id, begin_ns, end_ns) AS (SELECT host_id, start_ns, coalesce(end_ns, start_ns) "
    "FROM process WHERE start_ns IS NOT NULL UNION ALL SELECT p.host_id, t.start_ns, t.start_ns "
    "FROM thread t JOIN process p ON p.id = t.process_id WHERE t.start_ns IS NOT NULL UNION ALL "
    "SELECT c.host_id, min(x.ts_ns), max(x.ts_ns) FROM sample x JOIN counter c ON c.id = "
    "x.counter_id GROUP BY c.host_id) SELECT h.id, h.name, min(begin_ns) AS begin_ns, max(end_ns) "
    "AS end_ns FROM host h LEFT JOIN time ON time.host_id = h.id GROUP BY h.id ORDER BY h.id";

// Half a ppb in this time is a microsecond.
constexpr std::int64_t kLongestNs = 2'000'000'000'000;
constexpr std::size_t kMostRows = 10'000;

std::int64_t offsetAt(const ClockPiece& piece, std::int64_t hostNs) {
  return piece.offsetNs + std::llround(static_cast<double>(hostNs - piece.fromNs) * piece.drift);
}

// Begins with the first time of the host, so that all its times are converted.
std::vector<ClockPiece> fromFirstTime(std::vector<ClockPiece> pieces, const HostSpan& span) {
  const bool isKnown = span.beginNs && model::isTime(*span.beginNs);
  const std::int64_t beginNs = isKnown ? *span.beginNs : pieces.front().fromNs;
  while (pieces.size() > 1 && pieces[1].fromNs <= beginNs)
    pieces.erase(pieces.begin());
  ClockPiece& first = pieces.front();
  first.offsetNs = offsetAt(first, beginNs);
  first.fromNs = beginNs;
  return pieces;
}

void addRows(const ClockPiece& piece, std::int64_t untilNs, HostAlignment& host) {
  std::int64_t fromNs = piece.fromNs;
  do {
    host.pieces.push_back({.hostId = model::HostId{host.hostId},
                           .fromNs = fromNs,
                           .offsetNs = offsetAt(piece, fromNs),
                           .driftPpb = std::llround(piece.drift * 1e9),
                           .errorNs = host.errorNs});
    fromNs += kLongestNs;
  } while (piece.drift != 0 && fromNs < untilNs && host.pieces.size() < kMostRows);
}

HostAlignment alignmentOf(const HostSpan& span, FittedClock clock) {
  HostAlignment host;
  host.hostId = span.id;
  host.host = span.name;
  host.known = clock.known;
  host.errorNs = clock.errorNs;
  host.residualNs = clock.residualNs;
  host.atLeastNs = clock.atLeastNs;
  host.atMostNs = clock.atMostNs;
  if (clock.pieces.empty())
    return host;
  const std::vector<ClockPiece> pieces = fromFirstTime(std::move(clock.pieces), span);
  for (std::size_t at = 0; at < pieces.size(); ++at) {
    const bool isLast = at + 1 == pieces.size();
    const std::int64_t endNs = span.endNs.value_or(pieces[at].fromNs);
    addRows(pieces[at], isLast ? endNs : pieces[at + 1].fromNs, host);
  }
  return host;
}

}  // namespace

bool Alignment::isUseful() const noexcept {
  return std::count_if(hosts.begin(), hosts.end(), [](const HostAlignment& host) {
           return host.known == Known::BothSides;
         }) > 1;
}

std::int64_t Alignment::worstResidualNs() const noexcept {
  std::int64_t worst = 0;
  for (const HostAlignment& host : hosts)
    worst = std::max(worst, host.residualNs);
  return worst;
}

std::vector<std::string> Alignment::unconnected() const {
  std::vector<std::string> names;
  for (const HostAlignment& host : hosts)
    if (host.known == Known::Nothing)
      names.push_back(host.host);
  return names;
}

std::string Alignment::obstacle() const {
  if (contradiction)
    return fmt::format(
        "the times of '{}' and '{}' contradict each other by {:.3f} ms: a clock was set during the "
        "run, or the traces are of different jobs",
        hosts[contradiction->one].host,
        hosts[contradiction->other].host,
        static_cast<double>(contradiction->byNs) / 1e6);
  if (hosts.size() < 2 || isUseful())
    return "";
  const std::vector<std::string> others = unconnected();
  if (others.empty())
    return fmt::format(
        "no host sends to '{0}' and receives from it: record both ends with "
        "'--sources net,mpi,gloo,nccl'",
        hosts.front().host);
  return fmt::format(
      "'{}' shares no message or collective with {}: record both ends with "
      "'--sources net,mpi,gloo,nccl'",
      hosts.front().host,
      fmt::join(others, ", "));
}

Result<Alignment> alignHosts(const store::Database& trace) {
  SONDE_TRY_ASSIGN(const std::vector<HostSpan> spans, store::readAll<HostSpan>(trace, kHosts));
  if (spans.empty())
    return Alignment{};
  HostIndexes indexes;
  for (const HostSpan& span : spans)
    indexes.emplace(span.id, static_cast<HostIndex>(indexes.size()));
  HostBounds bounds(spans.size());
  if (spans.size() > 1) {
    SONDE_TRY(readMessages(trace, indexes, bounds));
    SONDE_TRY(readCollectives(trace, indexes, bounds));
  }
  FittedClocks fits = fitClocks(bounds);
  Alignment alignment;
  for (HostIndex host = 0; host < spans.size(); ++host) {
    HostAlignment& row =
        alignment.hosts.emplace_back(alignmentOf(spans[host], std::move(fits.hosts[host])));
    row.messages = bounds.messages(host);
    row.collectives = bounds.collectives(host);
  }
  alignment.contradiction = fits.contradiction;
  return alignment;
}

Result<void> storeClockMap(store::Database& trace, const Alignment& alignment) {
  SONDE_TRY(trace.exec("DELETE FROM clock_map"));
  if (!alignment.isUseful() || alignment.contradiction)
    return {};
  SONDE_TRY_ASSIGN(store::Statement row,
                   trace.prepare("INSERT INTO clock_map(host_id, from_ns, offset_ns, drift_ppb, "
                                 "error_ns) VALUES(?1, ?2, ?3, ?4, ?5)"));
  for (const HostAlignment& host : alignment.hosts)
    for (const model::ClockMap& piece : host.pieces)
      SONDE_TRY(
          row.bindAll(piece.hostId, piece.fromNs, piece.offsetNs, piece.driftPpb, piece.errorNs)
              .run());
  return {};
}

}  // namespace sonde::engine::align
