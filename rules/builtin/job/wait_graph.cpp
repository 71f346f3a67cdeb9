#include "rules/builtin/job/wait_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace sonde::rules {
namespace {

using engine::standstill::OpenCall;
using engine::standstill::Rendezvous;
using engine::standstill::Standstill;

using Edges = std::map<std::string, std::set<std::string>>;  // waiter -> for whom

// Only a rank's own trace says whether it waits for somebody else. If several members of a
// collective have no trace here, it is unknown which of them is late.
void addRendezvousEdges(const Rendezvous& one, Edges& edges) {
  const auto elsewhere = std::count_if(
      one.absent.begin(), one.absent.end(), [](const auto& member) { return !member.isHere; });
  for (const Rendezvous::Member& waiter : one.entered)
    for (const Rendezvous::Member& absent : one.absent)
      if (absent.isHere || elsewhere + one.unknown == 1)
        edges[waiter.name].insert(absent.name);
}

Edges edgesOf(const Standstill& found) {
  Edges edges;
  for (const Rendezvous& one : found.rendezvous)
    addRendezvousEdges(one, edges);
  for (const auto& rank : found.ranks)
    for (const OpenCall& call : rank.open)
      if (call.peer && (call.kind == "receive" || call.kind == "send" || call.op == "send" ||
                        call.op == "receive"))
        edges[rank.name].insert(fmt::format("rank {}", *call.peer));
  // A rank that is behind waits for nobody: the others have done their part.
  for (const engine::standstill::Behind& behind : found.behind)
    edges.erase(behind.name);
  for (const engine::standstill::Behind& behind : found.behind)
    for (const std::string& waiter : behind.waiting)
      edges[waiter].insert(behind.name);
  return edges;
}

// All that `from` waits for, directly or not.
std::set<std::string> reachable(const Edges& edges, const std::string& from) {
  std::set<std::string> seen;
  std::vector<std::string> next{from};
  while (!next.empty()) {
    const std::string at = next.back();
    next.pop_back();
    const auto found = edges.find(at);
    if (found == edges.end())
      continue;
    for (const std::string& to : found->second)
      if (seen.insert(to).second)
        next.push_back(to);
  }
  return seen;
}

}  // namespace

std::vector<Culprit> culpritsOf(const Standstill& found) {
  const Edges edges = edgesOf(found);
  std::map<std::string, Culprit> sinks;
  std::map<std::string, Culprit> circles;
  for (const auto& [waiter, direct] : edges)
    for (const std::string& name : reachable(edges, waiter)) {
      const bool isSink = !edges.contains(name);
      const bool isCircle = !isSink && reachable(edges, name).contains(name);
      if (!isSink && !isCircle)
        continue;
      Culprit& culprit = (isSink ? sinks : circles)[name];
      culprit.name = name;
      culprit.isInCircle = isCircle;
      if (waiter != name)
        culprit.waiting.push_back(waiter);
    }
  for (const engine::standstill::Behind& behind : found.behind)
    sinks[behind.name].name = behind.name;
  std::vector<Culprit> culprits;
  for (auto& [name, culprit] : sinks.empty() ? circles : sinks)
    culprits.push_back(std::move(culprit));
  if (culprits.empty() && found.ranks.size() == 1 && found.rendezvous.empty())
    culprits.push_back({found.ranks.front().name, {}, false});
  std::stable_sort(culprits.begin(), culprits.end(), [](const auto& a, const auto& b) {
    return a.waiting.size() > b.waiting.size();
  });
  return culprits;
}

}  // namespace sonde::rules
