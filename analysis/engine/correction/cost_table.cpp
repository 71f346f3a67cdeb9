#include "analysis/engine/correction/cost_table.h"

#include "analysis/store/statement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Dense>

namespace sonde::engine::correction {
namespace {

// How much of the cost of an event lies before its begin is stamped and inside of it, where the
// table does not say: a scope's begin is stamped last thing, its end first thing; a call is
// recorded when it is over.
struct Split {
  double before;
  double inside;
};

Split usualSplit(std::string_view probe, std::string_view api) noexcept {
  if (probe == "cuda" || probe == "torch")
    return {0.3, 0.4};
  if (api.starts_with("scope") || api == "iteration")
    return {0.5, 0.05};
  return {0.1, 0.1};
}

EventCost split(double meanNs,
                std::optional<double> beforeNs,
                std::optional<double> insideNs,
                const Split& usual) noexcept {
  EventCost cost;
  cost.beforeNs = beforeNs.value_or(meanNs * usual.before);
  cost.insideNs = insideNs.value_or(meanNs * usual.inside);
  cost.afterNs = meanNs - cost.beforeNs - cost.insideNs;
  return cost;
}

}  // namespace

Result<CostTable> CostTable::read(const store::Database& trace) {
  CostTable table;
  SONDE_TRY(table.readRows(trace));
  SONDE_TRY(table.readCovariance(trace));
  return table;
}

Result<void> CostTable::readRows(const store::Database& trace) {
  SONDE_TRY_ASSIGN(store::Statement row,
                   trace.prepare("SELECT probe, api, process_id, mean_ns, error_ns, method, "
                                 "before_ns, inside_ns, unrecorded_ns FROM overhead ORDER BY "
                                 "CASE method WHEN 'in-run' THEN 3 WHEN 'separate runs' THEN 2 "
                                 "WHEN 'assumed' THEN 0 ELSE 1 END, rowid"));
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, row.step());
    if (!more)
      return {};
    const double meanNs = row.real(3);
    if (!std::isfinite(meanNs) || !std::isfinite(row.real(4)) || !std::isfinite(row.real(6)) ||
        !std::isfinite(row.real(7)))
      return Error{
          ErrorCode::Corrupt,
          fmt::format(
              "the trace is damaged: what {} {} costs is no number", row.text(0), row.text(1))};
    MeasuredCost cost{
        std::string(row.text(0)),
        std::string(row.text(1)),
        row.optionalInteger(2),
        split(
            meanNs, row.optionalReal(6), row.optionalReal(7), usualSplit(row.text(0), row.text(1))),
        std::abs(row.real(4)),
        std::string(row.text(5)),
        row.real(8)};
    SONDE_TRY(add(std::move(cost)));
  }
}

Result<void> CostTable::add(MeasuredCost row) {
  if (rows_.size() == std::numeric_limits<std::uint16_t>::max())
    return Error{ErrorCode::Corrupt, "the trace is damaged: overhead has more than 65,535 rows"};
  places_[{row.processId.value_or(0), Place(row.probe, row.api)}] =
      static_cast<std::uint16_t>(rows_.size());
  rows_.push_back(std::move(row));
  return {};
}

void CostTable::add(const CostSet& measured) {
  for (const MeasuredCost& row : measured.rows)
    (void)add(row);  // some dozen rows
  for (std::size_t at = 0; at < measured.probes.size(); ++at)
    for (std::size_t other = 0; other < measured.probes.size(); ++other)
      covariance_[{measured.probes[at], measured.probes[other]}] = measured.covariance[at][other];
}

Result<void> CostTable::readCovariance(const store::Database& trace) {
  SONDE_TRY_ASSIGN(
      store::Statement row,
      trace.prepare("SELECT probe, other_probe, max(covariance) FROM overhead_covariance "
                    "GROUP BY probe, other_probe"));
  for (;;) {
    SONDE_TRY_ASSIGN(const bool more, row.step());
    if (!more)
      return {};
    covariance_[{std::string(row.text(0)), std::string(row.text(1))}] = row.real(2);
  }
}

std::optional<std::uint16_t> CostTable::find(const CostClass& of, std::int64_t processId) const {
  const Place place(of.probe, of.api);
  for (const std::int64_t process : {processId, std::int64_t{0}})
    if (const auto found = places_.find({process, place}); found != places_.end())
      return found->second;
  return std::nullopt;
}

std::vector<EventCost> CostTable::costs() const {
  std::vector<EventCost> costs;
  for (const MeasuredCost& row : rows_)
    costs.push_back(row.cost);
  return costs;
}

std::vector<EventCost> CostTable::costsWith(const std::vector<double>& mode) const {
  std::vector<EventCost> costs = this->costs();
  for (std::size_t at = 0; at < costs.size(); ++at) {
    const double factor = std::max(0.0, 1 + mode[at]);
    costs[at] = {
        costs[at].beforeNs * factor, costs[at].insideNs * factor, costs[at].afterNs * factor};
  }
  return costs;
}

namespace {

using Mode = std::vector<double>;

// What a mode does to the sum of all costs, at most.
double effectOf(const Mode& mode,
                const std::vector<MeasuredCost>& rows,
                const std::vector<std::int64_t>& events) {
  double effect = 0;
  for (std::size_t at = 0; at < rows.size(); ++at)
    effect += std::abs(mode[at]) * rows[at].cost.sumNs() * static_cast<double>(events[at]);
  return effect;
}

// The largest by themselves, the others as one.
std::vector<Mode> fewest(std::vector<Mode> modes,
                         const std::vector<MeasuredCost>& rows,
                         const std::vector<std::int64_t>& events) {
  std::erase_if(modes, [&](const Mode& mode) { return effectOf(mode, rows, events) <= 0; });
  std::sort(modes.begin(), modes.end(), [&](const Mode& a, const Mode& b) {
    return effectOf(a, rows, events) > effectOf(b, rows, events);
  });
  while (modes.size() > CostTable::kMostModes) {
    Mode& together = modes[modes.size() - 2];
    for (std::size_t at = 0; at < together.size(); ++at)
      together[at] = std::abs(together[at]) + std::abs(modes.back()[at]);
    modes.pop_back();
  }
  return modes;
}

}  // namespace

// What is known of one probe's costs is known of all of them together: they were measured in one
// run of the machine. So the errors are those of the probes.
std::vector<Mode> CostTable::errorModes(const std::vector<std::int64_t>& events) const {
  std::vector<std::string> probes;
  for (std::size_t at = 0; at < rows_.size(); ++at)
    if (events[at] > 0 && std::find(probes.begin(), probes.end(), rows_[at].probe) == probes.end())
      probes.push_back(rows_[at].probe);
  if (probes.empty())
    return {};  // there is nothing to solve, and Eigen does not take it
  const auto count = static_cast<Eigen::Index>(probes.size());
  Eigen::MatrixXd covariance = Eigen::MatrixXd::Zero(count, count);
  const auto indexOf = [&](const std::string& probe) {
    return std::find(probes.begin(), probes.end(), probe) - probes.begin();
  };
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const Eigen::Index at = indexOf(rows_[row].probe);
    const double sum = rows_[row].cost.sumNs();
    const double relative = sum > 0 ? rows_[row].errorNs / sum : 0;
    if (events[row] > 0)
      covariance(at, at) = std::max(covariance(at, at), relative * relative);
  }
  for (const auto& [pair, value] : covariance_) {
    const Eigen::Index a = indexOf(pair.first);
    const Eigen::Index b = indexOf(pair.second);
    if (a < count && b < count && std::isfinite(value))
      covariance(a, b) = covariance(b, a) = value;
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(covariance);
  std::vector<Mode> modes;
  for (Eigen::Index mode = 0; mode < count; ++mode) {
    Mode changes;
    const double size = std::sqrt(std::max(solver.eigenvalues()[mode], 0.0));
    for (const MeasuredCost& row : rows_) {
      const Eigen::Index at = indexOf(row.probe);
      changes.push_back(at < count ? size * solver.eigenvectors()(at, mode) : 0);
    }
    modes.push_back(std::move(changes));
  }
  return fewest(std::move(modes), rows_, events);
}

}  // namespace sonde::engine::correction
