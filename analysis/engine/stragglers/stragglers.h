// Finds the ranks that make a job slow, with the operation and the cause: the replay says how much
// faster the job would be if the rank did the same things as fast as its peers. Plain values; any
// thread.
//
// Who is slower than its peers need not matter: only the time that the replay gains counts. And who
// waits for a slow rank is not slow: time spent waiting is not work of a node.
#pragma once

#include "analysis/engine/critical/path_cause.h"
#include "analysis/engine/graph/graph.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sonde::engine::stragglers {

// Time of a node that one kind of work had.
struct WorkPart {
  graph::NodeIndex node = 0;
  std::uint32_t rank = 0;  // index of Work::ranks
  std::uint32_t what = 0;  // index of Work::what
  std::int64_t ns = 0;
};

// A message between ranks: the lag of an edge.
struct WorkMessage {
  std::uint32_t edge = 0;  // of the graph
  graph::NodeIndex to = 0;
  std::uint32_t rank = 0;  // the sender: index of Work::ranks
  std::uint32_t what = 0;  // index of Work::what; no part has it
};

struct WhatWork {
  std::string name;  // may be empty: nothing was recorded
  critical::PathCause cause = critical::PathCause::Host;
};

// A step of the job. Its length is the mean over the ranks, each from its first begin to its last
// end.
struct WorkStep {
  std::vector<graph::NodeIndex> firsts;  // by rank, or one for all
  std::vector<graph::NodeIndex> lasts;
};

struct Work {
  const graph::Graph& graph;
  const std::vector<std::int64_t>& gapNs;  // of a replay of the job as it is, by node
  std::vector<std::int64_t> ranks;         // their numbers
  std::vector<WhatWork> what;
  std::vector<WorkPart> parts;
  std::vector<WorkMessage> messages;
  std::vector<std::uint32_t> stepOf;  // by node: index of `steps`; kNoStep: none
  std::vector<WorkStep> steps;
};
inline constexpr std::uint32_t kNoStep = 0xFFFFFFFF;

struct Straggler {
  std::int64_t rank = -1;
  std::string operation;  // the work in which the rank loses most
  critical::PathCause cause = critical::PathCause::Host;
  std::int64_t ns = 0;    // what the job loses by the rank, mean of the steps
  double share = 0;       // of the mean step
  double confidence = 0;  // from 0 to 1
};

// Fewer steps do not show whether a rank is slower than its peers beyond chance.
inline constexpr std::size_t kLeastSteps = 8;

// Why no rank can be named, as part of a sentence; empty: the work has enough steps, or one rank.
std::string whyNoneCanBeNamed(const Work& work);

// The slowest first; none of fewer than kLeastSteps steps. Reports ranks by which the job loses at
// least 2 % of a step, and which are slower than their peers beyond chance, by four standard errors
// over the steps. A peer is a rank that does work of the same name; the reference is the median of
// the peers, the lower one of two. Work that only one rank does counts in full, unless the rank
// does mostly such work. Messages are compared by their mean time, as ranks send different numbers
// of them.
std::vector<Straggler> findStragglers(const Work& work);

// Durations by node, and lags by edge, in ns, if no rank took longer for the same work than its
// peers. Slowness within two standard errors over the steps counts as chance and stays.
struct PeerTimes {
  std::vector<std::int64_t> durNs;
  std::vector<std::uint32_t> lagNs;
};
PeerTimes timesOfPeers(const Work& work);

}  // namespace sonde::engine::stragglers
