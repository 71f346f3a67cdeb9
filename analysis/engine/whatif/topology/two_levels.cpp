#include "analysis/engine/whatif/topology/two_levels.h"

#include <algorithm>
#include <bit>

namespace sonde::engine::whatif {
namespace {

// The members as the formulas need them.
struct Terms {
  double members;
  double nodes;
  double perNode;
  double bytes;
  LinkCost inside;
  LinkCost between;

  bool hasInside() const { return perNode > 1; }
  bool hasBetween() const { return nodes > 1; }
  // A byte passes through all kinds of links that the communicator has.
  double slowestByteNs() const {
    return std::max(hasInside() ? inside.byteNs : 0, hasBetween() ? between.byteNs : 0);
  }
};

double levelsOfTree(double leaves) {
  return static_cast<double>(std::bit_width(static_cast<std::uint64_t>(leaves) - 1));
}

bool isGather(const std::string& op) {
  return op == "allgather" || op == "reducescatter";
}

// Each member sends a share to each other one, over all links at once.
double allToAllNs(const Terms& of) {
  const double share = of.bytes / of.members;
  const double outside = of.members - of.perNode;
  return (of.perNode - 1) * of.inside.stepNs + outside * of.between.stepNs +
         std::max((of.perNode - 1) * share * of.inside.byteNs,
                  of.perNode * outside * share * of.between.byteNs);
}

// The ring comes to each node once. A step takes the mean latency of its links, and as long as the
// slowest link needs for its bytes.
double ringNs(const std::string& op, const Terms& of) {
  if (op == "alltoall")
    return allToAllNs(of);
  const double links = of.hasBetween() ? of.nodes : 0;  // between nodes
  const double stepNs =
      (links * of.between.stepNs + (of.members - links) * of.inside.stepNs) / of.members;
  const double steps = (op == "allreduce" ? 2 : 1) * (of.members - 1);
  const bool isShared = op == "allreduce" || isGather(op);
  const double sent = isShared ? steps * of.bytes / of.members : of.bytes;
  return steps * stepNs + sent * of.slowestByteNs();
}

// Two binary trees, each of which has half of the bytes: inside of each node, and between nodes.
double treeNs(const std::string& op, const Terms& of) {
  const double latency =
      levelsOfTree(of.perNode) * of.inside.stepNs + levelsOfTree(of.nodes) * of.between.stepNs;
  return (op == "allreduce" ? 2 : 1) * (latency + of.bytes * of.slowestByteNs());
}

// A collective of each node, and one of the members with the same place on their nodes, each with
// an equal part of the bytes; those share the NICs.
double hierarchicalNs(const std::string& op, const Terms& of) {
  const LinkCost& in = of.inside;
  const LinkCost& out = of.between;
  const double inside = (of.perNode - 1) * (in.stepNs + of.bytes / of.perNode * in.byteNs);
  const double between = (of.nodes - 1) * (out.stepNs + of.bytes / of.nodes * out.byteNs);
  if (op == "allreduce")
    return 2 * (inside + between);
  if (isGather(op))
    return inside + between;
  if (op == "alltoall")
    return inside + (of.nodes - 1) * (out.stepNs + of.perNode * of.bytes / of.nodes * out.byteNs);
  return (of.perNode - 1) * in.stepNs + (of.nodes - 1) * out.stepNs +
         of.bytes * (in.byteNs + out.byteNs);
}

// The switches of a node, and those between nodes, add up: each link carries the bytes once in each
// direction, at the same time.
double inNetworkNs(const std::string& op, const Terms& of) {
  const double trips = op == "allreduce" ? 2 : 1;
  const double latency =
      (of.hasInside() ? of.inside.stepNs : 0) + (of.hasBetween() ? of.between.stepNs : 0);
  return trips * latency + of.bytes * of.slowestByteNs();
}

bool isPossible(Algorithm algorithm, const std::string& op, const GroupShape& shape) {
  switch (algorithm) {
    case Algorithm::Ring:
      return true;
    case Algorithm::Hierarchical:
      return shape.isEven && shape.nodes > 1 && shape.perNode > 1;
    case Algorithm::Tree:
    case Algorithm::InNetwork:
      break;
  }
  return op == "allreduce" || op == "broadcast" || op == "reduce";
}

}  // namespace

std::string_view nameOf(Algorithm algorithm) noexcept {
  for (const auto& [name, each] : kAlgorithms)
    if (each == algorithm)
      return name;
  return "";
}

std::optional<double> collectiveNs(Algorithm algorithm,
                                   const std::string& op,
                                   double bytes,
                                   const GroupShape& shape,
                                   const TwoLevels& levels) {
  if (!isPossible(algorithm, op, shape))
    return std::nullopt;
  if (shape.members < 2)
    return 0;
  const Terms terms{static_cast<double>(shape.members),
                    static_cast<double>(shape.nodes),
                    static_cast<double>(shape.perNode),
                    bytes,
                    levels.inside,
                    levels.between};
  switch (algorithm) {
    case Algorithm::Ring:
      break;
    case Algorithm::Tree:
      return treeNs(op, terms);
    case Algorithm::Hierarchical:
      return hierarchicalNs(op, terms);
    case Algorithm::InNetwork:
      return inNetworkNs(op, terms);
  }
  return ringNs(op, terms);
}

TimedAlgorithm timedAlgorithm(std::optional<Algorithm> given,
                              const std::string& op,
                              double bytes,
                              const GroupShape& shape,
                              const TwoLevels& levels) {
  TimedAlgorithm found{Algorithm::Ring, *collectiveNs(Algorithm::Ring, op, bytes, shape, levels)};
  for (const Algorithm each :
       given ? std::array{*given, *given} : std::array{Algorithm::Tree, Algorithm::Hierarchical})
    if (const auto ns = collectiveNs(each, op, bytes, shape, levels);
        ns && (given || *ns < found.ns))
      found = {each, *ns};
  return found;
}

}  // namespace sonde::engine::whatif
