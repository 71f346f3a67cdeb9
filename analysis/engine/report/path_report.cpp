#include "analysis/engine/report/path_report.h"

#include "analysis/engine/critical/iteration_paths.h"
#include "analysis/engine/operations/operation_rows.h"
#include "analysis/engine/operations/read_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace sonde::engine::report {
namespace {

Result<PathReport> read(const store::Database& trace) {
  PathReport report;
  SONDE_TRY_ASSIGN(const std::int64_t iterations,
                   trace.queryInteger("SELECT EXISTS (SELECT 1 FROM iteration)"));
  SONDE_TRY_ASSIGN(const bool hasOperations, operations::isOperationLevel(trace));
  if (iterations == 0 && !hasOperations)
    return notFound("the trace has no iterations");
  SONDE_TRY_ASSIGN(operations::JobGraph job, operations::readJob(trace, true));
  if (job.trace.iterations.empty())
    return notFound("no iteration has ended");
  const std::vector<critical::IterationPath> paths = critical::pathsOf(job.trace);
  SONDE_TRY_ASSIGN(const std::vector<critical::PathPart> parts,
                   critical::partsOf(trace, job.trace.graph, paths));
  for (const graph::Check& each : job.trace.checks)
    if (each.violations > 0 && (each.name == "partners" || each.name == "clocks"))
      report.doubts.push_back({each.name, each.violations, each.text});
  report.iterations = static_cast<std::int64_t>(paths.size());
  for (const critical::IterationPath& each : paths)
    report.ns += each.lengthNs();
  report.causes = causesOf(parts);
  if (!job.stragglers.empty())
    report.straggler = std::move(job.stragglers.front());
  report.whyNoStraggler = std::move(job.whyNoStragglers);
  return report;
}

PathCauseShare shareOf(critical::PathCause cause,
                       const std::map<std::string, std::int64_t>& names,
                       std::int64_t totalNs) {
  PathCauseShare share;
  share.cause = cause;
  std::int64_t most = 0;
  for (const auto& [name, ns] : names) {
    share.ns += ns;
    if (ns > most) {
      most = ns;
      share.what = name;
    }
  }
  share.share = totalNs > 0 ? static_cast<double>(share.ns) / static_cast<double>(totalNs) : 0;
  return share;
}

}  // namespace

std::vector<PathCauseShare> causesOf(const std::vector<critical::PathPart>& parts) {
  std::map<critical::PathCause, std::map<std::string, std::int64_t>> sums;
  std::int64_t total = 0;
  for (const critical::PathPart& part : parts) {
    sums[part.cause][part.what] += part.lengthNs();
    total += part.lengthNs();
  }
  std::vector<PathCauseShare> causes;
  causes.reserve(sums.size());
  for (const auto& [cause, names] : sums)
    causes.push_back(shareOf(cause, names, total));
  std::stable_sort(
      causes.begin(), causes.end(), [](const auto& a, const auto& b) { return a.ns > b.ns; });
  return causes;
}

PathReport readPaths(const store::Database& trace, std::int64_t events) {
  PathReport without;
  if (events > kMostPathEvents) {
    without.isTooLarge = true;
    without.reason = fmt::format("the trace has more than {} events", kMostPathEvents);
    return without;
  }
  auto report = read(trace);
  if (report)
    return *std::move(report);
  without.reason = report.error().message;
  return without;
}

}  // namespace sonde::engine::report
