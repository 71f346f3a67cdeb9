#include "tests/jobsim/simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace sonde::jobsim {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

using Span = std::pair<Ns, Ns>;

// The begin and end of every step of a thread.
std::vector<Span> stepsOf(const History& run, int thread) {
  std::vector<Span> spans;
  for (const Step& step : run.steps)
    if (step.thread == thread)
      spans.emplace_back(step.begin, step.end);
  return spans;
}

std::vector<Span> worksOf(const History& run, int rank, int stream) {
  std::vector<Span> spans;
  for (const DeviceWork& work : run.works)
    if (work.rank == rank && work.stream == stream)
      spans.emplace_back(work.begin, work.end);
  return spans;
}

Job jobOf(int cores, std::vector<Thread> threads, int streams = 0) {
  Job job;
  job.machines = {{.name = "a", .cores = cores}};
  job.ranks = {{.machine = 0, .streams = streams}};
  job.threads = std::move(threads);
  return job;
}

TEST(Simulation, ThreadsShareTheProcessorsInTheOrderOfBecomingReady) {
  const Job job = jobOf(1,
                        {{0, "one", {Compute{"a", 10}, Compute{"b", 10}}},
                         {0, "two", {Compute{"c", 10}, Sleep{"d", 50}, Compute{"e", 5}}}});
  const History run = simulate(job);
  EXPECT_THAT(stepsOf(run, 0), ElementsAre(Pair(0, 10), Pair(10, 30)));
  EXPECT_THAT(stepsOf(run, 1), ElementsAre(Pair(0, 20), Pair(20, 70), Pair(70, 75)));
  EXPECT_EQ(run.endNs, 75);
}

TEST(Simulation, AStreamDoesItsWorkInOrderAndAThreadWaitsForIt) {
  Job job = jobOf(
      0, {{0, "main", {Launch{"k", 10, 0, 100}, Launch{"l", 10, 0, 50}, Synchronise{0, 3}}}}, 1);
  job.launchLatencyNs = 5;
  const History run = simulate(job);
  EXPECT_THAT(worksOf(run, 0, 0), ElementsAre(Pair(15, 115), Pair(115, 165)));
  EXPECT_THAT(stepsOf(run, 0), ElementsAre(Pair(0, 10), Pair(10, 20), Pair(20, 168)));
  EXPECT_EQ(run.steps[2].ready, 165);
}

TEST(Simulation, AStreamWaitsForTheEventOfAnotherOne) {
  Job job = jobOf(0,
                  {{0,
                    "main",
                    {Launch{"k", 10, 0, 100},
                     RecordEvent{1, 0, 0},
                     WaitEvent{1, 1, 0},
                     Launch{"l", 10, 1, 50}}}},
                  2);
  job.events = {0};
  EXPECT_THAT(worksOf(simulate(job), 0, 1), ElementsAre(Pair(110, 160)));
}

TEST(Simulation, AWaitIsForTheLastRecordOfAnEventBeforeIt) {
  Job job = jobOf(0,
                  {{0,
                    "main",
                    {Launch{"slow", 10, 0, 500},
                     RecordEvent{1, 0, 0},
                     WaitEvent{1, 1, 0},
                     Launch{"after slow", 10, 1, 50},
                     RecordEvent{1, 2, 0},
                     WaitEvent{1, 3, 0},
                     Launch{"after nothing", 10, 3, 50}}}},
                  4);
  job.events = {0};
  const History run = simulate(job);
  EXPECT_THAT(worksOf(run, 0, 1), ElementsAre(Pair(510, 560)));
  EXPECT_THAT(worksOf(run, 0, 3), ElementsAre(Pair(34, 84)));
}

TEST(Simulation, ACollectiveBeginsWithItsLastRank) {
  Job job;
  job.machines = {{.name = "a"}, {.name = "b"}};
  job.ranks = {{.machine = 0, .streams = 1}, {.machine = 1, .streams = 1}};
  job.groups = {{.name = "world", .ranks = {0, 1}, .link = {.latencyNs = 7, .bytesPerUs = 1000}}};
  job.threads = {
      {0, "main", {LaunchCollective{Collective::Allreduce, 10, 0, 0, 100}}},
      {1, "main", {Compute{"late", 500}, LaunchCollective{Collective::Allreduce, 10, 0, 0, 100}}}};
  const History run = simulate(job);
  const Ns transfer = 2 * (7 + 50);
  EXPECT_THAT(worksOf(run, 0, 0), ElementsAre(Pair(10, 510 + transfer)));
  EXPECT_THAT(worksOf(run, 1, 0), ElementsAre(Pair(510, 510 + transfer)));
  EXPECT_EQ(run.works[0].transferNs, transfer);
}

TEST(Simulation, ALinkCarriesOneMessageAtATime) {
  Job job;
  job.machines = {{.name = "a"}, {.name = "b"}};
  job.ranks = {{.machine = 0}, {.machine = 1}};
  job.link = {.latencyNs = 5, .bytesPerUs = 1000};
  job.threads = {{0, "main", {Send{1, 0, 100, 10}, Send{1, 1, 100, 10}}},
                 {1, "main", {Receive{0, 1}, Receive{0, 0}}}};
  const History run = simulate(job);
  EXPECT_THAT(stepsOf(run, 0), ElementsAre(Pair(0, 10), Pair(10, 20)));
  EXPECT_THAT(stepsOf(run, 1), ElementsAre(Pair(0, 215), Pair(215, 215)));
  EXPECT_EQ(run.steps[2].cause, 1U) << "the second message";
}

TEST(Simulation, AFullQueueHoldsUpWhoFillsIt) {
  Job job = jobOf(0,
                  {{0, "loader", {Put{0}, Put{0}, Put{0}}},
                   {0, "main", {Sleep{"x", 100}, Take{0}, Sleep{"x", 100}, Take{0}, Take{0}}}});
  job.queueLengths = {1};
  const History run = simulate(job);
  EXPECT_THAT(stepsOf(run, 0), ElementsAre(Pair(0, 0), Pair(0, 100), Pair(100, 200)));
  EXPECT_EQ(run.endNs, 200);
}

TEST(Simulation, ReportsAJobThatStandsStill) {
  const Job job = jobOf(0, {{0, "main", {Compute{"a", 10}, Receive{0, 3}}}});
  EXPECT_EQ(simulate(job).endNs, -1);
}

}  // namespace
}  // namespace sonde::jobsim
