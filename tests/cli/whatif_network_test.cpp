// `sonde whatif --ask` about the shape of a network: runs the program on a simulated job.
#include "tests/cli/verbs_fixture.h"
#include "tests/jobsim/simulation.h"
#include "tests/jobsim/workloads.h"
#include "tests/jobsim/write_trace.h"

#include <gmock/gmock.h>

namespace sonde::cli {
namespace {

using nlohmann::json;
using test::Finished;
using ::testing::HasSubstr;

class WhatifNetwork : public Verbs {
 protected:
  Finished ask(const std::string& question, const std::vector<std::string>& options = {}) {
    std::vector<std::string> words = {"whatif", trace_, "--ask", question};
    words.insert(words.end(), options.begin(), options.end());
    return sonde(words);
  }
  // The traces of these ranks and all later ones.
  std::string merge(const jobsim::Job& job, const std::string& name, std::size_t first = 0) {
    const jobsim::History history = jobsim::simulate(job);
    std::vector<std::string> words = {"merge", "-o", folder_ / (name + ".sonde")};
    for (std::size_t rank = first; rank < job.ranks.size(); ++rank) {
      words.push_back(folder_ / (name + std::to_string(rank) + ".sonde"));
      jobsim::writeTrace(job, history, words.back(), static_cast<int>(rank));
    }
    EXPECT_EQ(sonde(words).status, 0);
    return words[2];
  }
  // Two ranks share each layer, and there are four copies.
  static jobsim::Job eightRanks() {
    jobsim::TensorParallel of;
    of.dataRanks = 4;
    of.lossBytes = 1'000;
    return jobsim::tensorParallelJob(of);
  }
  void expectRefused(const std::vector<std::pair<std::string, std::string>>& questions) {
    for (const auto& [question, reason] : questions) {
      const Finished finished = ask(question);
      EXPECT_EQ(finished.status, 2) << question;
      EXPECT_THAT(finished.err, HasSubstr(reason)) << question;
    }
  }

  std::string trace_ = merge(eightRanks(), "job");
};

TEST_F(WhatifNetwork, AnswersForNodesOfSeveralRanks) {
  const std::string nodes = "topology,per-node=4,inside=200GB/s,between=100Gbit/s";
  const json answer = jsonOf(ask(nodes, {"--format", "json"}));
  EXPECT_GT(answer["provenance"]["modelled"], 0.05);
  EXPECT_LE(answer["low_ns"], answer["predicted_ns"]);
  EXPECT_THAT(answer["notes"].dump(), HasSubstr("the fastest for each"));
  EXPECT_THAT(answer["notes"].dump(),
              HasSubstr("communicator data-0: 4 ranks on 2 nodes, 2 such share the NICs"));
  EXPECT_THAT(answer["notes"].dump(), HasSubstr("communicator tensor-3: 2 ranks on 1 node"));
  const json tree =
      jsonOf(ask(nodes + ",algorithm=tree,nics=2,inside-latency=2us,between-latency=9us",
                 {"--format", "json"}));
  EXPECT_THAT(tree["notes"].dump(), HasSubstr("by 'tree'"));
  EXPECT_NE(tree["predicted_ns"], answer["predicted_ns"]);
}

TEST_F(WhatifNetwork, NamesThePlacementOfRanks) {
  const std::string nodes = "placement,per-node=4,inside=200GB/s,between=100Gbit/s";
  const json best = jsonOf(ask(nodes, {"--format", "json"}));
  const json apart = jsonOf(ask(nodes + ",order=2-1", {"--format", "json"}));
  EXPECT_LE(best["predicted_ns"], apart["predicted_ns"]);
  EXPECT_THAT(best["notes"].dump(), HasSubstr("are 1 (2 ranks), 2 (4 ranks). In the order "));
  EXPECT_THAT(apart["notes"].dump(), HasSubstr("In the order 2-1"));
  EXPECT_THAT(apart["notes"].dump(), HasSubstr("node 0: 0 2 4 6, node 1: 1 3 5 7"));
}

TEST_F(WhatifNetwork, NamesWhatIsWrongWithNodes) {
  expectRefused(
      {{"topology", "needs per-node="},
       {"topology,per-node=2,inside=1GB/s", "needs between="},
       {"topology,per-node=0,inside=1GB/s,between=1GB/s", "'0' is not a whole number"},
       {"topology,per-node=3,inside=1GB/s,between=1GB/s", "8 ranks do not fill nodes of 3"},
       {"topology,per-node=2,inside=fast,between=1GB/s", "fast is not a bandwidth"},
       {"topology,per-node=2,inside=1GB/s,between=1GB/s,nics=half", "'half' is not"},
       {"topology,per-node=2,inside=1GB/s,between=1GB/s,inside-latency=5kg", "5kg"},
       {"topology,per-node=2,inside=1GB/s,between=1GB/s,algorithm=torus", "no algorithm 'torus'"},
       {"topology,per-node=2,inside=1GB/s,between=1GB/s,order=2-1", "no setting 'order'"}});
}

TEST_F(WhatifNetwork, NamesWhatIsWrongWithAPlacement) {
  expectRefused(
      {{"placement,per-node=4", "needs inside="},
       {"placement,per-node=3,inside=1GB/s,between=1GB/s", "8 ranks do not fill nodes of 3"},
       {"placement,per-node=2,inside=1GB/s,between=1GB/s,order=1-3",
        "these are 1 (2 ranks), 2 (4 ranks)"},
       {"placement,per-node=2,inside=1GB/s,between=1GB/s,order=", "as in order=4-1"},
       {"placement,per-node=2,inside=1GB/s,between=1GB/s,order=2x1", "'2x1' is not a whole"},
       {"placement,per-node=2,inside=1GB/s,between=1GB/s,nodes=2", "it has order, per-node"}});
}

TEST_F(WhatifNetwork, AveragesGradientsInGroups) {
  trace_ = merge(jobsim::dataParallelJob({}), "data");
  const json groups = jsonOf(ask("averaging,size=2", {"--format", "json"}));
  EXPECT_LT(groups["predicted_ns"], groups["baseline_ns"]);
  EXPECT_THAT(groups["notes"].dump(), HasSubstr("groups of 2 of 4 ranks"));
  EXPECT_THAT(ask("averaging,wait=no").out, HasSubstr("No rank waits"));
  expectRefused({{"averaging,size=3", "a group of 3 is not a power of two"},
                 {"averaging,size=8", "a group of 8 is not"},
                 {"averaging,size=two", "'two' is not a whole number"},
                 {"averaging,wait=maybe", "wait=maybe is not yes or no"},
                 {"averaging,groups=2", "no setting 'groups'"}});
}

TEST_F(WhatifNetwork, CombinesGradientsByDotProducts) {
  trace_ = merge(jobsim::dataParallelJob({}), "data");
  const json fast = jsonOf(ask("adasum", {"--format", "json"}));
  const json slow = jsonOf(ask("adasum,speed=1GB/s", {"--format", "json"}));
  EXPECT_LT(fast["predicted_ns"], slow["predicted_ns"]);
  EXPECT_THAT(slow["notes"].dump(), HasSubstr("at 1 GB/s"));
  expectRefused(
      {{"adasum,speed=fast", "fast is not a bandwidth"}, {"adasum,size=2", "no setting 'size'"}});
}

TEST_F(WhatifNetwork, HasNoAnswerWithoutAllRanks) {
  const std::vector<std::string> traces = {write(0), merge(eightRanks(), "last", 7)};
  for (const std::string question : {"topology,per-node=1,inside=1GB/s,between=1GB/s",
                                     "placement,per-node=1,inside=1GB/s,between=1GB/s",
                                     "averaging",
                                     "adasum"}) {
    for (const std::string& trace : traces) {
      const Finished one = sonde({"whatif", trace, "--ask", question});
      EXPECT_EQ(one.status, 4) << question;
      EXPECT_THAT(one.err, ::testing::ContainsRegex("all ranks")) << question;
    }
  }
}

}  // namespace
}  // namespace sonde::cli
