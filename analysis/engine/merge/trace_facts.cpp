#include "analysis/engine/merge/trace_facts.h"

#include "analysis/store/statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>

namespace sonde::engine::merge {
namespace {

using store::Statement;

// Spans of one job overlap even if the clocks of its hosts differ by this much.
constexpr std::int64_t kHostClockToleranceNs = 60'000'000'000;

constexpr std::string_view kGoesOn =
    "SELECT EXISTS (SELECT 1 FROM process WHERE state = 'running') AND NOT EXISTS (SELECT 1 FROM"
    " meta WHERE key = 'finished')";

std::string metaOf(const store::Database& trace, std::string_view key) {
  auto value = trace.queryText(fmt::format("SELECT value FROM meta WHERE key = '{}'", key));
  return value ? *value : "";
}

Result<void> readRanks(const store::Database& trace, TraceFacts& facts) {
  SONDE_TRY_ASSIGN(Statement ranks,
                   trace.prepare("SELECT DISTINCT rank FROM process WHERE rank IS NOT NULL"));
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, ranks.step());
    if (!row)
      break;
    facts.ranks.insert(ranks.integer(0));
  }
  SONDE_TRY_ASSIGN(Statement size, trace.prepare("SELECT max(world_size) FROM process"));
  SONDE_TRY(size.step());
  facts.worldSize = size.optionalInteger(0);
  return {};
}

Result<void> readImages(const store::Database& trace, TraceFacts& facts) {
  SONDE_TRY_ASSIGN(
      Statement images,
      trace.prepare("SELECT format('%s %s %d %d %d', h.boot_id, p.pid_namespace, p.pid, "
                    "p.start_time, p.exec_count) FROM process p JOIN host h ON h.id = p.host_id "
                    "WHERE h.boot_id IS NOT NULL AND p.start_time IS NOT NULL"));
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, images.step());
    if (!row)
      return {};
    facts.images.emplace(images.text(0));
  }
}

// The span of recorded processes; without any, of imported ones.
Result<void> readSpan(const store::Database& trace, TraceFacts& facts) {
  SONDE_TRY_ASSIGN(
      Statement span,
      trace.prepare(
          "SELECT min(p.start_ns), max(coalesce(p.end_ns, p.start_ns)), h.boot_id IS NULL "
          "FROM process p JOIN host h ON h.id = p.host_id WHERE p.start_ns IS NOT NULL "
          "GROUP BY 3 ORDER BY 3"));
  SONDE_TRY_ASSIGN(const bool any, span.step());
  if (!any)
    return {};
  facts.isImport = span.integer(2) != 0;
  facts.beginNs = span.optionalInteger(0);
  facts.endNs = span.optionalInteger(1);
  // A process that still ran when the recording stopped has no end of its own. A recording in
  // progress has no end at all: its file may be older than that of a rank that began later.
  SONDE_TRY_ASSIGN(Statement last,
                   trace.prepare("SELECT max(start_ns + coalesce(dur_ns, 0)) FROM slice"));
  SONDE_TRY(last.step());
  if (facts.endNs && !last.isNull(0))
    facts.endNs = std::max(*facts.endNs, last.integer(0));
  SONDE_TRY_ASSIGN(const std::int64_t goesOn, trace.queryInteger(kGoesOn));
  if (facts.endNs && goesOn != 0)
    facts.endNs = kNoEnd;
  return {};
}

// A recording has one epoch for its boot; a merged trace has one per host.
Result<void> readEpochs(const store::Database& trace, TraceFacts& facts) {
  SONDE_TRY_ASSIGN(
      Statement hosts,
      trace.prepare("SELECT h.boot_id, coalesce("
                    "(SELECT value FROM meta WHERE key = 'epoch_ns:' || h.boot_id),"
                    "(SELECT value FROM meta WHERE key = 'epoch_ns'),"
                    "(SELECT realtime_ns - monotonic_ns FROM clock_sync c WHERE c.host_id = h.id"
                    " ORDER BY monotonic_ns LIMIT 1)) FROM host h"));
  while (true) {
    SONDE_TRY_ASSIGN(const bool row, hosts.step());
    if (!row)
      return {};
    ++facts.hosts;
    if (!hosts.isNull(0) && !hosts.isNull(1))
      facts.epochs[std::string(hosts.text(0))] =
          std::strtoll(std::string(hosts.text(1)).c_str(), nullptr, 10);
  }
}

Error contradiction(const TraceFacts& a,
                    const TraceFacts& b,
                    std::string_view what,
                    std::string_view advice) {
  return {ErrorCode::Unsupported,
          fmt::format("'{}' and '{}' {}: {}", a.path.string(), b.path.string(), what, advice)};
}

Result<void> checkProcesses(const TraceFacts& a, const TraceFacts& b) {
  std::error_code ignored;
  const bool same = std::filesystem::equivalent(a.path, b.path, ignored);
  if (same || std::any_of(a.images.begin(), a.images.end(), [&](const std::string& image) {
        return b.images.contains(image);
      }))
    return contradiction(a, b, "hold the same processes", "give each trace once");
  return {};
}

Result<void> checkPair(const TraceFacts& a, const TraceFacts& b) {
  if (!a.job.empty() && !b.job.empty() && a.job != b.job)
    return contradiction(a,
                         b,
                         fmt::format("are of different jobs ({} and {})", a.job, b.job),
                         "give the traces of one job");
  if (a.worldSize && b.worldSize && a.worldSize != b.worldSize)
    return contradiction(
        a,
        b,
        fmt::format("have different world sizes ({} and {})", *a.worldSize, *b.worldSize),
        "give the traces of one run");
  for (const std::int64_t rank : a.ranks)
    if (b.ranks.contains(rank))
      return contradiction(a, b, fmt::format("both hold rank {}", rank), "give each rank once");
  return checkProcesses(a, b);
}

bool shareABoot(const TraceFacts& a, const TraceFacts& b) {
  return std::any_of(a.epochs.begin(), a.epochs.end(), [&](const auto& boot) {
    return b.epochs.contains(boot.first);
  });
}

// The trace before a gap and the one after it.
struct Gap {
  const TraceFacts* before;
  const TraceFacts* after;
  double seconds;
};

// The first gap between the spans of two groups of traces, if any.
std::optional<Gap> gapIn(std::vector<const TraceFacts*> traces) {
  std::sort(traces.begin(), traces.end(), [](const auto* a, const auto* b) {
    return *a->beginNs < *b->beginNs;
  });
  for (std::size_t i = 1; i < traces.size(); ++i) {
    const TraceFacts& last =
        **std::max_element(traces.begin(),
                           traces.begin() + static_cast<std::ptrdiff_t>(i),
                           [](const auto* a, const auto* b) { return *a->endNs < *b->endNs; });
    const std::int64_t gap = *traces[i]->beginNs - *last.endNs;
    if (gap > (shareABoot(last, *traces[i]) ? 0 : kHostClockToleranceNs))
      return Gap{&last, traces[i], static_cast<double>(gap) / 1e9};
  }
  return {};
}

std::vector<const TraceFacts*> withSpans(const std::vector<TraceFacts>& traces, bool imports) {
  std::vector<const TraceFacts*> known;
  for (const TraceFacts& trace : traces)
    if (trace.beginNs && trace.endNs && (imports || !trace.isImport))
      known.push_back(&trace);
  return known;
}

// Each recording's span must overlap the others'; a gap between two groups means two runs.
Result<void> checkSpans(const std::vector<TraceFacts>& traces) {
  const auto gap = gapIn(withSpans(traces, false));
  if (!gap)
    return {};
  return contradiction(*gap->before,
                       *gap->after,
                       fmt::format("were recorded one after the other, {:.{}f} s apart",
                                   gap->seconds,
                                   gap->seconds < 1 ? 3 : 1),
                       "give the traces of one run");
}

}  // namespace

Result<TraceFacts> readFacts(const store::Database& trace) {
  TraceFacts facts;
  facts.path = trace.path();
  facts.job = metaOf(trace, "job");
  SONDE_TRY(readRanks(trace, facts));
  SONDE_TRY(readImages(trace, facts));
  SONDE_TRY(readSpan(trace, facts));
  SONDE_TRY(readEpochs(trace, facts));
  return facts;
}

Result<void> checkOneJob(const std::vector<TraceFacts>& traces) {
  for (std::size_t i = 0; i < traces.size(); ++i)
    for (std::size_t j = i + 1; j < traces.size(); ++j)
      SONDE_TRY(checkPair(traces[i], traces[j]));
  return checkSpans(traces);
}

Result<void> checkDistinct(const std::vector<TraceFacts>& traces) {
  for (std::size_t i = 0; i < traces.size(); ++i)
    for (std::size_t j = i + 1; j < traces.size(); ++j)
      if (const auto checked = checkProcesses(traces[i], traces[j]); !checked)
        return Error{ErrorCode::InvalidArgument, checked.error().message};
  return {};
}

std::vector<std::string> doubtsOf(const std::vector<TraceFacts>& traces) {
  const auto gap = gapIn(withSpans(traces, true));
  if (!gap)
    return {};
  return {
      fmt::format("'{}' and '{}' are {:.1f} s apart: they belong to different runs, or their "
                  "clocks have different origins",
                  gap->before->path.string(),
                  gap->after->path.string(),
                  gap->seconds)};
}

Result<std::int64_t> shiftOf(const TraceFacts& trace,
                             const std::map<std::string, std::int64_t>& epochs) {
  std::set<std::int64_t> shifts;
  for (const auto& [boot, epoch] : trace.epochs) {
    const auto used = epochs.find(boot);
    shifts.insert(used == epochs.end() ? 0 : used->second - epoch);
  }
  if (shifts.size() < trace.hosts && !shifts.empty() && trace.hosts > trace.epochs.size())
    shifts.insert(0);  // a host without a boot id keeps its times
  if (shifts.size() > 1)
    return Error{ErrorCode::Unsupported,
                 fmt::format("'{}' holds several hosts whose clocks would have to move by "
                             "different amounts: merge the "
                             "ranks' own traces in one go",
                             trace.path.string())};
  return shifts.empty() ? 0 : *shifts.begin();
}

}  // namespace sonde::engine::merge
