// How long collectives take on nodes of several ranks, with one kind of links inside a node and
// NICs between nodes: α–β models of algorithms. Plain values; any thread.
//
// g: members of a communicator on a node; m: its nodes; n: its members; S: the bytes of its buffer.
// Each member has a link of its own inside, and all of a node share its NICs. Sources: the ring and
// the composition of three collectives as in Thakur et al., "Optimization of Collective
// Communication Operations in MPICH", 2005, and Cho et al., "BlueConnect", 2019; two trees as in
// Sanders et al., "Two-tree algorithms for full bandwidth broadcast, reduction and scan", 2009;
// sums in switches as in Graham et al., "Scalable Hierarchical Aggregation Protocol", 2016.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace sonde::engine::whatif {

enum class Algorithm : std::uint8_t { Ring, Tree, Hierarchical, InNetwork };
inline constexpr std::array<std::pair<std::string_view, Algorithm>, 4> kAlgorithms = {
    {{"ring", Algorithm::Ring},
     {"tree", Algorithm::Tree},
     {"hierarchical", Algorithm::Hierarchical},
     {"in-network", Algorithm::InNetwork}}};
std::string_view nameOf(Algorithm algorithm) noexcept;

// The members of a communicator on nodes.
struct GroupShape {
  std::int64_t members = 1;
  std::int64_t nodes = 1;
  std::int64_t perNode = 1;  // members on the fullest node
  bool isEven = true;        // all its nodes have as many
  // Communicators that use the NICs of one node at the same time, with this one.
  std::int64_t sharers = 1;

  auto operator<=>(const GroupShape&) const = default;
};

struct LinkCost {
  double stepNs = 0;  // α
  double byteNs = 0;  // β
};
struct TwoLevels {
  LinkCost inside;   // of a member's link
  LinkCost between;  // of all NICs of a node together, for one communicator
};

// The time of a collective, in ns; nullopt: the algorithm does not do this operation, or not on
// members like these. The ring does all of them.
std::optional<double> collectiveNs(Algorithm algorithm,
                                   const std::string& op,
                                   double bytes,
                                   const GroupShape& shape,
                                   const TwoLevels& levels);

struct TimedAlgorithm {
  Algorithm algorithm = Algorithm::Ring;
  double ns = 0;
};
// With the given algorithm, or the ring where that has no answer. nullopt: the fastest one, without
// sums in switches, which not every network has.
TimedAlgorithm timedAlgorithm(std::optional<Algorithm> given,
                              const std::string& op,
                              double bytes,
                              const GroupShape& shape,
                              const TwoLevels& levels);

}  // namespace sonde::engine::whatif
