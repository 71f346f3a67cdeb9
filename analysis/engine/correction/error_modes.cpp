#include "analysis/engine/correction/error_modes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include <Eigen/Dense>

namespace sonde::engine::correction {
namespace {

// The costs of one probe were measured together, so they share one error. There is one error for
// each probe and measurement.
constexpr std::int64_t kNotMeasured = std::numeric_limits<std::int64_t>::min();
struct Source {
  std::int64_t measurement;  // the process it holds for; CostTable::kAll: all
  std::string probe;
  auto operator<=>(const Source&) const = default;
};

struct Unknown {
  double effectNs = 0;                                                 // of all its events together
  double errorNs = 0;                                                  // likewise
  double variance() const { return std::pow(errorNs / effectNs, 2); }  // relative
};

// The effect of a cause on the sum of all costs, by index of the unknowns, in ns.
using Effects = Eigen::VectorXd;

// The same for one measurement: the unknowns from `begin` on.
struct Part {
  Eigen::Index begin;
  Effects effects;
  double sum = effects.sum();
};

Source sourceOf(const MeasuredCost& row) {
  const bool isMeasured = row.method == method::kInRun || row.method == method::kSeparateRuns;
  return {isMeasured ? row.processId.value_or(CostTable::kAll) : kNotMeasured, row.probe};
}

class Unknowns {
 public:
  Unknowns(const CostTable& costs, const std::vector<std::int64_t>& events) : costs_(costs) {
    for (std::size_t row = 0; row < costs.rows().size(); ++row)
      if (events[row] > 0)
        add(costs.rows()[row], events[row]);
    for (const auto& [source, unknown] : unknowns_)
      indices_.emplace(source, indices_.size());
  }

  std::size_t size() const noexcept { return unknowns_.size(); }

  // Unknowns that were not measured in a run come first.
  Eigen::Index firstMeasured() const {
    Eigen::Index first = 0;
    for (const auto& [source, unknown] : unknowns_)
      first += source.measurement == kNotMeasured ? 1 : 0;
    return first;
  }

  // The independent causes, separately for each measurement.
  std::vector<std::vector<Part>> causes() const {
    std::vector<std::vector<Part>> blocks;
    for (auto first = unknowns_.begin(); first != unknowns_.end();) {
      auto last = first;
      while (last != unknowns_.end() && last->first.measurement == first->first.measurement)
        ++last;
      blocks.push_back(causesOf(first, last));
      first = last;
    }
    return blocks;
  }

  ErrorMode modeOf(const Effects& effects) const {
    ErrorMode mode;
    for (const MeasuredCost& row : costs_.rows()) {
      const auto index = indices_.find(sourceOf(row));
      mode.push_back(index == indices_.end() ? 0
                                             : effects[static_cast<Eigen::Index>(index->second)] /
                                                   unknowns_.at(index->first).effectNs);
    }
    return mode;
  }

 private:
  using Place = std::map<Source, Unknown>::const_iterator;

  void add(const MeasuredCost& row, std::int64_t events) {
    const double sum = row.cost.sumNs();
    if (!(sum > 0))
      return;
    Unknown& unknown = unknowns_[sourceOf(row)];
    unknown.effectNs += sum * static_cast<double>(events);
    unknown.errorNs += row.errorNs * static_cast<double>(events);
  }

  std::vector<Part> causesOf(Place first, Place last) const {
    const auto count = static_cast<Eigen::Index>(std::distance(first, last));
    const auto begin = static_cast<Eigen::Index>(indices_.at(first->first));
    Eigen::MatrixXd covariance = Eigen::MatrixXd::Zero(count, count);
    auto one = first;
    for (Eigen::Index at = 0; at < count; ++at, ++one) {
      auto other = first;
      for (Eigen::Index with = 0; with < count; ++with, ++other)
        covariance(at, with) =
            covarianceOf(one, other) * one->second.effectNs * other->second.effectNs;
    }
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(covariance);
    std::vector<Part> causes;
    for (Eigen::Index at = count - 1; at >= 0; --at) {  // eigenvalues ascend
      const double variance = solver.eigenvalues()[at];
      if (!(variance > 0))
        break;
      causes.push_back({begin, std::sqrt(variance) * solver.eigenvectors().col(at)});
    }
    return causes;
  }

  double covarianceOf(Place one, Place other) const {
    const auto found =
        costs_.covariance(one->first.measurement, one->first.probe, other->first.probe);
    if (found)
      return *found;
    return one == other ? one->second.variance() : 0;
  }

  const CostTable& costs_;
  std::map<Source, Unknown> unknowns_;
  std::map<Source, std::size_t> indices_;
};

// Chooses signs for `sizes` (nonnegative, descending) so that their sum comes close to `wanted`:
// greedily for the larger ones, exhaustively for the last dozen.
std::vector<double> signsTowards(double wanted, const std::vector<double>& sizes) {
  constexpr std::size_t kTried = 12;
  std::vector<double> signs(sizes.size(), 1);
  double sum = 0;
  const std::size_t first = sizes.size() - std::min(sizes.size(), kTried);
  for (std::size_t at = 0; at < first; ++at) {
    signs[at] = sum + sizes[at] / 2 <= wanted ? 1 : -1;
    sum += signs[at] * sizes[at];
  }
  const std::size_t tried = sizes.size() - first;
  unsigned best = 0;
  double least = INFINITY;
  for (unsigned chosen = 0; chosen < 1U << tried; ++chosen) {
    double total = sum;
    for (std::size_t at = 0; at < tried; ++at)
      total += (chosen >> at & 1U) == 0 ? sizes[first + at] : -sizes[first + at];
    if (std::abs(total - wanted) >= least)
      continue;
    least = std::abs(total - wanted);
    best = chosen;
  }
  for (std::size_t at = 0; at < tried; ++at)
    signs[first + at] = (best >> at & 1U) == 0 ? 1 : -1;
  return signs;
}

// Joins one cause from each of several measurements that share no unknowns. Chooses the signs so
// that the joint effect on the sum of all costs is closest to that of independent causes.
Effects joined(std::vector<const Part*> parts, std::size_t size) {
  std::sort(parts.begin(), parts.end(), [](const Part* a, const Part* b) {
    return std::abs(a->sum) > std::abs(b->sum);
  });
  std::vector<double> sizes;
  double variance = 0;
  for (const Part* part : parts) {
    sizes.push_back(std::abs(part->sum));
    variance += std::pow(part->sum, 2);
  }
  const std::vector<double> signs = signsTowards(std::sqrt(variance), sizes);
  Effects all = Effects::Zero(static_cast<Eigen::Index>(size));
  for (std::size_t at = 0; at < parts.size(); ++at)
    all.segment(parts[at]->begin, parts[at]->effects.size()) =
        (parts[at]->sum < 0 ? -signs[at] : signs[at]) * parts[at]->effects;
  return all;
}

// Joins the largest causes of all measurements, then the second largest, and so on.
std::vector<Effects> acrossMeasurements(const std::vector<std::vector<Part>>& blocks,
                                        std::size_t size) {
  std::size_t most = 0;
  for (const auto& block : blocks)
    most = std::max(most, block.size());
  std::vector<Effects> causes;
  for (std::size_t at = 0; at < most; ++at) {
    std::vector<const Part*> parts;
    for (const auto& block : blocks)
      if (at < block.size())
        parts.push_back(&block[at]);
    causes.push_back(joined(std::move(parts), size));
  }
  return causes;
}

// One cause instead of several: each unknown keeps the variance that it has from all of them.
Effects together(const std::vector<Effects>& causes) {
  Effects squares = Effects::Zero(causes.front().size());
  double variance = 0;
  for (const Effects& cause : causes) {
    squares += cause.cwiseAbs2();
    variance += std::pow(cause.sum(), 2);
  }
  std::vector<Eigen::Index> order;
  for (Eigen::Index at = 0; at < squares.size(); ++at)
    order.push_back(at);
  std::sort(order.begin(), order.end(), [&](Eigen::Index a, Eigen::Index b) {
    return squares[a] > squares[b];
  });
  std::vector<double> sizes;
  sizes.reserve(order.size());
  for (const Eigen::Index at : order)
    sizes.push_back(std::sqrt(squares[at]));
  const std::vector<double> signs = signsTowards(std::sqrt(variance), sizes);
  Effects all = Effects::Zero(squares.size());
  for (std::size_t at = 0; at < order.size(); ++at)
    all[order[at]] = signs[at] * sizes[at];
  return all;
}

}  // namespace

std::vector<ErrorMode> errorModes(const CostTable& costs, const std::vector<std::int64_t>& events) {
  const Unknowns unknowns(costs, events);
  std::vector<std::vector<Part>> measured;
  std::vector<Effects> causes;
  for (std::vector<Part>& block : unknowns.causes())
    if (!block.empty() && block.front().begin >= unknowns.firstMeasured())
      measured.push_back(std::move(block));
    else
      for (const Part& part : block)
        causes.push_back(joined({&part}, unknowns.size()));
  for (Effects& cause : acrossMeasurements(measured, unknowns.size()))
    causes.push_back(std::move(cause));
  std::sort(causes.begin(), causes.end(), [](const Effects& a, const Effects& b) {
    return a.squaredNorm() > b.squaredNorm();
  });
  if (causes.size() > kMostModes) {
    const auto rest = causes.begin() + static_cast<std::ptrdiff_t>(kMostModes - 1);
    const Effects all = together({rest, causes.end()});
    causes.erase(rest, causes.end());
    causes.push_back(all);
  }
  std::vector<ErrorMode> modes;
  modes.reserve(causes.size());
  for (const Effects& cause : causes)
    modes.push_back(unknowns.modeOf(cause));
  return modes;
}

std::vector<EventCost> costsWith(const CostTable& costs, const ErrorMode& mode, double size) {
  std::vector<EventCost> changed = costs.costs();
  for (std::size_t at = 0; at < changed.size(); ++at) {
    const double factor = std::max(0.0, 1 + size * mode[at]);
    EventCost& cost = changed[at];
    cost = {cost.beforeNs * factor, cost.insideNs * factor, cost.afterNs * factor};
  }
  return changed;
}

}  // namespace sonde::engine::correction
