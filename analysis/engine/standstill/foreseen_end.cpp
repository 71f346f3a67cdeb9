#include "analysis/engine/standstill/foreseen_end.h"

#include "analysis/engine/statistics/statistics.h"

#include <algorithm>
#include <optional>

namespace sonde::engine::standstill {
namespace {

// Iterations that did about as much work.
using References = std::vector<const PastIteration*>;

References withUsualWork(const References& all) {
  std::vector<double> counts;
  for (const PastIteration* each : all)
    counts.push_back(static_cast<double>(each->endedNs.size()));
  if (counts.empty())
    return {};
  const double usual = metrics::median(counts);
  References similar;
  for (const PastIteration* each : all)
    if (const auto count = static_cast<double>(each->endedNs.size());
        count >= 0.8 * usual && count <= 1.25 * usual)
      similar.push_back(each);
  return similar;
}

References ownReferences(const RankProgress& rank) {
  References all;
  const std::size_t first = rank.past.size() < kPastIterations ? 1 : 0;
  for (std::size_t at = first; at < rank.past.size(); ++at)
    all.push_back(&rank.past[at]);
  return withUsualWork(all);
}

// The same iteration of other ranks, if they have ended it.
References peerReferences(const std::vector<RankProgress>& ranks, const RankProgress& rank) {
  References all;
  for (const RankProgress& peer : ranks)
    for (const PastIteration& past : peer.past)
      if (&peer != &rank && past.number == rank.open->number)
        all.push_back(&past);
  return withUsualWork(all);
}

double endOf(const PastIteration& past, std::size_t event) {
  return static_cast<double>(event < past.endedNs.size() ? past.endedNs[event] : past.durNs);
}

std::vector<double> endsOf(const References& references, std::size_t event) {
  std::vector<double> ends;
  for (const PastIteration* each : references)
    ends.push_back(endOf(*each, event));
  return ends;
}

std::vector<double> lengthsOf(const References& references) {
  std::vector<double> lengths;
  for (const PastIteration* each : references)
    lengths.push_back(static_cast<double>(each->durNs));
  return lengths;
}

// How many times as long as usual the part so far took; at least 1.
double paceOf(const OpenIteration& open, const References& references) {
  if (open.endedNs.empty())
    return 1;
  const double usual = metrics::median(endsOf(references, open.endedNs.size() - 1));
  return usual > 0 ? std::max(1.0, static_cast<double>(open.endedNs.back()) / usual) : 1;
}

ForeseenEnd foresee(const RankProgress& rank, const References& references) {
  const OpenIteration& open = *rank.open;
  ForeseenEnd end;
  end.name = rank.name;
  end.number = open.number;
  end.startNs = open.startNs;
  end.elapsedNs = open.elapsedNs;
  end.ended = static_cast<std::int64_t>(open.endedNs.size());
  end.references = static_cast<std::int64_t>(references.size());
  const std::vector<double> due = endsOf(references, open.endedNs.size());
  end.usualNs = metrics::median(lengthsOf(references));
  end.dueNs = metrics::median(due);
  end.noiseNs = metrics::robustDeviation(due);
  end.lateNs = static_cast<double>(open.elapsedNs) - end.dueNs;
  const double rest = std::max(end.usualNs - end.dueNs, 0.0);
  end.lowNs = std::max(static_cast<double>(open.elapsedNs), end.dueNs) + rest;
  end.highNs = end.lowNs + rest * (paceOf(open, references) - 1);
  end.position = static_cast<double>(open.number) +
                 (end.usualNs > 0 ? std::min(end.dueNs / end.usualNs, 1.0) : 0);
  return end;
}

}  // namespace

std::vector<ForeseenEnd> foreseenEnds(const std::vector<RankProgress>& ranks,
                                      std::size_t minReferences) {
  std::vector<ForeseenEnd> ends;
  for (const RankProgress& rank : ranks) {
    if (!rank.open)
      continue;
    const References own = ownReferences(rank);
    if (own.size() >= minReferences) {
      ends.push_back(foresee(rank, own));
      continue;
    }
    if (const References peers = peerReferences(ranks, rank); peers.size() >= minReferences) {
      ends.push_back(foresee(rank, peers));
      ends.back().byPeers = true;
    }
  }
  return ends;
}

}  // namespace sonde::engine::standstill
