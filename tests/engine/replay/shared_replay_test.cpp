#include "analysis/engine/replay/shared_replay.h"

#include "analysis/engine/graph/graph_builder.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

namespace sonde::engine::replay {
namespace {

using graph::Graph;
using graph::NodeIndex;
using test::must;
using ::testing::ElementsAre;

// Work that needs earlier work, some of it on resources.
struct Shop {
  struct Job {
    std::int64_t durNs;
    std::int64_t gapNs;
    std::vector<std::pair<NodeIndex, std::uint32_t>> needs;  // and lag
    std::uint32_t resource = kNoResource;
  };
  std::vector<Job> jobs;
  std::vector<Resource> resources;

  // When each job begins: looks again and again for the one that can begin first.
  std::vector<std::int64_t> truth() const {
    std::vector<std::int64_t> begin(jobs.size(), -1);
    for (std::size_t done = 0; done < jobs.size(); ++done) {
      std::tuple<std::int64_t, std::int64_t, std::size_t> first{INT64_MAX, 0, 0};
      for (std::size_t job = 0; job < jobs.size(); ++job)
        if (begin[job] < 0 && isReady(job, begin)) {
          const std::int64_t asks = askedNs(job, begin);
          first = std::min(first, std::tuple(std::max(asks, freeNs(job, begin)), asks, job));
        }
      begin[std::get<2>(first)] = std::get<0>(first);
    }
    return begin;
  }

  bool isReady(std::size_t job, const std::vector<std::int64_t>& begin) const {
    return std::all_of(jobs[job].needs.begin(), jobs[job].needs.end(), [&](const auto& need) {
      return begin[need.first] >= 0;
    });
  }
  std::int64_t askedNs(std::size_t job, const std::vector<std::int64_t>& begin) const {
    std::int64_t ready = 0;
    for (const auto& [from, lag] : jobs[job].needs)
      ready = std::max(ready, begin[from] + jobs[from].durNs + lag);
    return ready + jobs[job].gapNs;
  }
  // From when on fewer jobs than its resource bears run.
  std::int64_t freeNs(std::size_t job, const std::vector<std::int64_t>& begin) const {
    const std::uint32_t resource = jobs[job].resource;
    if (resource == kNoResource)
      return 0;
    std::vector<std::int64_t> ends;
    for (std::size_t other = 0; other < jobs.size(); ++other)
      if (jobs[other].resource == resource && begin[other] >= 0)
        ends.push_back(begin[other] + jobs[other].durNs);
    if (ends.size() < resources[resource].capacity)
      return 0;
    std::sort(ends.rbegin(), ends.rend());
    return ends[resources[resource].capacity - 1];
  }

  Resources shared() const {
    Resources found{resources, {}, {}};
    for (const Job& each : jobs)
      found.ofNode.push_back(each.resource);
    return found;
  }
  Graph graph(const std::vector<std::int64_t>& begin) const {
    graph::GraphBuilder builder;
    const auto lane = builder.addLane({});
    for (std::size_t job = 0; job < jobs.size(); ++job)
      builder.addNode(lane, graph::NodeKind::Host, begin[job], jobs[job].durNs);
    for (NodeIndex job = 0; job < jobs.size(); ++job)
      for (const auto& [from, lag] : jobs[job].needs)
        builder.addEdge(from, job, graph::EdgeKind::Data, lag);
    return must(builder.build());
  }
  std::vector<std::int64_t> durations() const {
    std::vector<std::int64_t> all;
    for (const Job& each : jobs)
      all.push_back(each.durNs);
    return all;
  }
};

// The first job needs nothing. Jobs that need a resource have no gap of their own.
Shop randomShop(std::mt19937& random) {
  const auto upTo = [&](int most) { return std::uniform_int_distribution<int>(0, most)(random); };
  Shop shop;
  for (int i = upTo(2); i >= 0; --i)
    shop.resources.push_back({.capacity = static_cast<std::uint32_t>(1 + upTo(1))});
  const int jobs = 10 + upTo(30);
  for (int i = 0; i < jobs; ++i) {
    Shop::Job job{1 + upTo(1'000'000), 0, {}};
    const auto kind = static_cast<std::uint32_t>(upTo(static_cast<int>(shop.resources.size())));
    if (i > 0 && kind < shop.resources.size())
      job.resource = kind;
    else
      job.gapNs = i == 0 ? 0 : upTo(100'000);
    for (int need = i == 0 ? 0 : 1 + upTo(1); need > 0; --need)
      job.needs.emplace_back(static_cast<NodeIndex>(upTo(i - 1)),
                             static_cast<std::uint32_t>(upTo(50'000)));
    shop.jobs.push_back(job);
  }
  return shop;
}

TEST(SharedReplay, OfTheOwnDurationsIsWhatWasMeasured) {
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    const Shop shop = randomShop(random);
    const std::vector<std::int64_t> truth = shop.truth();
    const Graph graph = shop.graph(truth);
    const QueuedGaps gaps = queuedGaps(graph, shop.shared());
    EXPECT_EQ(
        replayShared(graph, {graph.durNs, gaps.gapNs}, shop.shared(), gaps.dispatchNs).beginNs,
        truth);
  }
}

TEST(SharedReplay, OfOtherDurationsIsTheTruth) {
  std::mt19937 random(2);
  for (int i = 0; i < 300; ++i) {
    Shop shop = randomShop(random);
    const Graph graph = shop.graph(shop.truth());
    const QueuedGaps gaps = queuedGaps(graph, shop.shared());
    for (Shop::Job& each : shop.jobs)
      each.durNs = 1 + each.durNs * std::uniform_int_distribution<int>(20, 200)(random) / 100;
    EXPECT_EQ(
        replayShared(graph, {shop.durations(), gaps.gapNs}, shop.shared(), gaps.dispatchNs).beginNs,
        shop.truth());
  }
}

TEST(SharedReplay, WithoutResourcesIsTheReplay) {
  std::mt19937 random(3);
  for (int i = 0; i < 100; ++i) {
    const Shop shop = randomShop(random);
    const Graph graph = shop.graph(shop.truth());
    std::vector<std::int64_t> durations = graph.durNs;
    for (std::int64_t& each : durations)
      each /= 2;
    EXPECT_EQ(replayShared(graph, {durations, graph.gapNs}, {}, {}).beginNs,
              replay(graph, {durations, graph.gapNs}));
  }
}

// Four jobs that ask for one place one after the other, while the first one runs.
Shop queue() {
  Shop shop;
  shop.resources = {{}};
  shop.jobs = {{0, 0, {}},
               {100, 0, {{0, 0}}, 0},
               {10, 0, {{0, 1}}, 0},
               {10, 0, {{0, 2}}, 0},
               {10, 0, {{0, 3}}, 0}};
  return shop;
}

TEST(SharedReplay, ServesInTheOrderOfAsking) {
  const Shop shop = queue();
  const Graph graph = shop.graph(shop.truth());
  const QueuedGaps gaps = queuedGaps(graph, shop.shared());
  EXPECT_THAT(
      replayShared(graph, {graph.durNs, gaps.gapNs}, shop.shared(), gaps.dispatchNs).beginNs,
      ElementsAre(0, 0, 100, 110, 120));
}

TEST(SharedReplay, ServesTheHighestPriorityFirst) {
  const Shop shop = queue();
  const Graph graph = shop.graph(shop.truth());
  const QueuedGaps gaps = queuedGaps(graph, shop.shared());
  Resources resources = shop.shared();
  resources.all[0].discipline = Discipline::Priority;
  resources.priority = {0, 0, 0, 1, 1};
  EXPECT_THAT(replayShared(graph, {graph.durNs, gaps.gapNs}, resources, gaps.dispatchNs).beginNs,
              ElementsAre(0, 0, 120, 100, 110));
}

// Those that wait get their turns between those of the one that keeps the place longest.
TEST(SharedReplay, ServesInTurns) {
  const Shop shop = queue();
  const Graph graph = shop.graph(shop.truth());
  const QueuedGaps gaps = queuedGaps(graph, shop.shared());
  Resources resources = shop.shared();
  resources.all[0].turnNs = 40;
  const Times times = replayShared(graph, {graph.durNs, gaps.gapNs}, resources, gaps.dispatchNs);
  EXPECT_THAT(times.beginNs, ElementsAre(0, 0, 40, 50, 60));
  EXPECT_THAT(times.durNs, ElementsAre(0, 130, 10, 10, 10));
}

// A place that is taken up with a delay, as a processor by a thread.
TEST(SharedReplay, AQueueExplainsAShortDispatchAndNoMore) {
  const Shop shop = queue();
  for (const std::int64_t delay : {kMostDispatchNs, kMostDispatchNs + 1}) {
    const Graph graph = shop.graph({0, 0, 100 + delay, 110 + delay, 120 + delay});
    const QueuedGaps gaps = queuedGaps(graph, shop.shared());
    EXPECT_EQ(gaps.gapNs[2], delay == kMostDispatchNs ? 0 : 100 + delay - 1);
    EXPECT_EQ(gaps.dispatchNs[2], delay == kMostDispatchNs ? delay : 0);
    EXPECT_EQ(
        replayShared(graph, {graph.durNs, gaps.gapNs}, shop.shared(), gaps.dispatchNs).beginNs,
        graph.beginNs);
  }
}

TEST(SharedReplay, KnowsHowManyRanAtOnce) {
  const Shop shop = queue();
  EXPECT_THAT(measuredCapacity(shop.graph(shop.truth()), shop.shared()), ElementsAre(1));
  EXPECT_THAT(measuredCapacity(shop.graph({0, 0, 1, 2, 200}), shop.shared()), ElementsAre(3));
}

}  // namespace
}  // namespace sonde::engine::replay
