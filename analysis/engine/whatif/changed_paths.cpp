#include "analysis/engine/whatif/changed_paths.h"

#include "analysis/engine/critical/iteration_paths.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace sonde::engine::whatif {
namespace {

using critical::Cause;
using critical::Element;
using critical::IterationPath;

// Stretches of paths whose measured times are known, each as a path of its own, so that its parts
// can be told apart.
class Stretches {
 public:
  Stretches(const Scenario& scenario, const replay::Times& times)
      : scenario_(scenario), times_(times) {}

  void add(const Element& each) {
    if (each.cause != Cause::Node) {
      const Origin origin =
          each.cause == Cause::Lag ? scenario_.originOfEdge(each.edge) : Origin::Measured;
      append(each, 1, origin);
      return;
    }
    double at = static_cast<double>(times_.beginNs[each.node]);
    // It lasts longer where it waits for its turns.
    const auto own = static_cast<double>(scenario_.durNs()[each.node]);
    const double stretch = own > 0 ? static_cast<double>(times_.durNs[each.node]) / own : 1;
    for (Piece piece : scenario_.piecesOf(each.node)) {
      piece.newNs *= stretch;
      const double from = std::max(at, static_cast<double>(each.beginNs));
      const double until = std::min(at + piece.newNs, static_cast<double>(each.endNs));
      if (from < until)
        addPiece(each, piece, from - at, until - at);
      at += piece.newNs;
    }
  }

  const std::vector<IterationPath>& all() const noexcept { return all_; }
  double factorOf(std::uint32_t index) const { return factors_[index]; }
  Origin originOf(std::uint32_t index) const { return origins_[index]; }

 private:
  // From `from` to `until` of the new time of a piece.
  void addPiece(const Element& each, const Piece& piece, double from, double until) {
    Element measured = each;
    const double perNs = piece.perNs();
    if (perNs <= 0) {
      measured.beginNs = 0;
      measured.endNs = static_cast<std::int64_t>(until - from);
      append(measured, 1, piece.origin);
      return;
    }
    measured.beginNs = piece.beginNs + static_cast<std::int64_t>(from / perNs);
    measured.endNs =
        std::min(piece.endNs,
                 std::max(measured.beginNs + 1,
                          piece.beginNs + static_cast<std::int64_t>(until / perNs + 0.5)));
    if (measured.lengthNs() > 0)
      append(measured, (until - from) / static_cast<double>(measured.lengthNs()), piece.origin);
  }

  void append(const Element& element, double factor, Origin origin) {
    IterationPath path;
    path.path.push_back(element);
    all_.push_back(std::move(path));
    factors_.push_back(factor);
    origins_.push_back(origin);
  }

  const Scenario& scenario_;
  const replay::Times& times_;
  std::vector<IterationPath> all_;
  std::vector<double> factors_;  // new time to measured time
  std::vector<Origin> origins_;
};

using Line = std::tuple<graph::LaneIndex, critical::PathCause, std::string>;

}  // namespace

Result<ChangedPaths> changedPaths(const store::Database& trace,
                                  const Scenario& scenario,
                                  const replay::Times& times) {
  graph::TraceGraph now = scenario.job();
  now.graph.beginNs = times.beginNs;
  now.graph.durNs = times.durNs;
  now.graph.lagNs = scenario.lagNs();
  const std::vector<IterationPath> paths = critical::pathsOf(now);
  Stretches stretches(scenario, times);
  for (const IterationPath& path : paths)
    for (const Element& each : path.path)
      stretches.add(each);
  SONDE_TRY_ASSIGN(const std::vector<critical::PathPart> parts,
                   critical::partsOf(trace, scenario.graph(), stretches.all()));
  ChangedPaths found;
  std::map<Line, double> sums;
  double total = 0;
  for (const critical::PathPart& part : parts) {
    const double ns = static_cast<double>(part.lengthNs()) * stretches.factorOf(part.path);
    sums[{part.lane, part.cause, part.what}] += ns;
    found.originShares[static_cast<std::size_t>(stretches.originOf(part.path))] += ns;
    total += ns;
  }
  if (total <= 0)
    return found;
  for (double& each : found.originShares)
    each /= total;
  for (const auto& [line, ns] : sums) {
    const auto& [lane, cause, what] = line;
    found.shares.push_back({graph::entityOf(scenario.graph().lanes[lane]),
                            cause,
                            what,
                            ns / static_cast<double>(paths.size()),
                            ns / total});
  }
  std::stable_sort(found.shares.begin(), found.shares.end(), [](const auto& a, const auto& b) {
    return a.ns > b.ns;
  });
  return found;
}

}  // namespace sonde::engine::whatif
