// `sonde whatif`: runs the program on a small job of two ranks.
#include "tests/cli/verbs_fixture.h"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

namespace sonde::cli {
namespace {

using nlohmann::json;
using test::Finished;
using ::testing::HasSubstr;

class WhatifVerb : public Verbs {
 protected:
  json ask(std::vector<std::string> questions) {
    questions.insert(questions.begin(), {"whatif", trace_});
    questions.insert(questions.end(), {"--format", "json"});
    return jsonOf(sonde(questions));
  }
  Finished refused(std::vector<std::string> questions) {
    questions.insert(questions.begin(), {"whatif", trace_});
    return sonde(questions);
  }

  std::string trace_ = write(0);
};

TEST_F(WhatifVerb, AnswersWithAnIntervalAndWhatItRestsOn) {
  const json answer = ask({"--scale", "kind:host=0.5"});
  EXPECT_EQ(answer["schema"], 1);
  EXPECT_LT(answer["predicted_ns"], answer["baseline_ns"]);
  EXPECT_LE(answer["low_ns"], answer["predicted_ns"]);
  EXPECT_GE(answer["high_ns"], answer["predicted_ns"]);
  EXPECT_NEAR(answer["speedup"].get<double>(),
              answer["baseline_ns"].get<double>() / answer["predicted_ns"].get<double>(),
              1e-6);
  const json from = answer["provenance"];
  EXPECT_NEAR(from["measured"].get<double>() + from["scaled"].get<double>() +
                  from["modelled"].get<double>(),
              1,
              1e-9);
  EXPECT_GT(from["scaled"], 0.3);
  for (const char* path : {"critical_path_before", "critical_path_after"})
    EXPECT_FALSE(answer[path].empty()) << path;
  for (const char* key : {"iterations", "identity_error", "notes"})
    EXPECT_TRUE(answer.contains(key)) << key;
}

TEST_F(WhatifVerb, AsksFromLeftToRight) {
  const json once = ask({"--set", "kind:host=1ms", "--scale", "kind:host=3"});
  const json other = ask({"--scale", "kind:host=3", "--set", "kind:host=1ms"});
  EXPECT_GT(once["predicted_ns"].get<double>(), 2 * other["predicted_ns"].get<double>());
}

TEST_F(WhatifVerb, AsksTheQuestionsOfAFileInTheirPlace) {
  const std::string file = folder_ / "plan.toml";
  std::ofstream(file) << "[[question]]\nset = \"kind:host=1ms\"\n"
                         "[[question]]\nask = \"batch\"\nx = 2\n";
  const json answer = ask({"--scale", "kind:host=3", "--file", file, "--scale", "kind:host=5"});
  const json same = ask({"--scale",
                         "kind:host=3",
                         "--set",
                         "kind:host=1ms",
                         "--ask",
                         "batch,x=2",
                         "--scale",
                         "kind:host=5"});
  EXPECT_EQ(answer["predicted_ns"], same["predicted_ns"]);
  EXPECT_NE(answer["predicted_ns"], ask({"--file", file})["predicted_ns"]);
}

TEST_F(WhatifVerb, NamesTheLineOfAFileThatIsWrong) {
  const std::string file = folder_ / "plan.toml";
  const auto wrong = [&](const char* text) {
    std::ofstream(file) << text;
    const Finished finished = refused({"--file", file});
    EXPECT_EQ(finished.status, 2) << text;
    return finished.err;
  };
  EXPECT_THAT(wrong("[[question]]\nscal = \"kind:host=2\"\n"), HasSubstr("plan.toml:2:1: "));
  EXPECT_THAT(wrong("[[question]]\nscale = \"kind:host=2\"\nset = \"kind:host=2ms\"\n"),
              HasSubstr("plan.toml:3:1: 'scale' and 'set' are two questions"));
  EXPECT_THAT(wrong("[[question]]\nask = \"batch,x=2\"\nx = 3\n"), HasSubstr("given twice"));
  EXPECT_THAT(wrong("[[question]]\nworkers = [2]\n"), HasSubstr("plan.toml:2:11: "));
  EXPECT_THAT(wrong("[[question\n"), HasSubstr("plan.toml:1:11: "));
  EXPECT_THAT(wrong("scale = \"kind:host=2\"\n"), HasSubstr("[[question]]"));
  EXPECT_THAT(wrong("# nothing\n"), HasSubstr("no question"));
}

TEST_F(WhatifVerb, DrawsAnIterationBeforeAndAfter) {
  const std::string picture = folder_ / "out.svg";
  ask({"--scale", "kind:host=0.5", "--plot", picture});
  std::ostringstream svg;
  svg << std::ifstream(picture).rdbuf();
  EXPECT_THAT(svg.str(), HasSubstr(">now<"));
  EXPECT_THAT(svg.str(), HasSubstr(">then<"));
  EXPECT_THAT(svg.str(), HasSubstr("stroke=\"#000000\"")) << "the interval";
  EXPECT_EQ(refused({"--scale", "kind:host=0.5", "--plot", picture}).status, 2) << "it exists";
  EXPECT_EQ(refused({"--scale", "kind:host=0.5", "--plot", "out.gif"}).status, 2);
}

TEST_F(WhatifVerb, WritesThePredictedTimeline) {
  const std::string out = folder_ / "out.sonde";
  const json answer = ask({"--scale", "kind:host=0.5", "-o", out});
  const json measured = jsonOf(sonde({"replay", out, "--format", "json"}));
  EXPECT_NEAR(measured["measured_ns"].get<double>(), answer["predicted_ns"].get<double>(), 100);
  EXPECT_EQ(jsonOf(sonde({"sql",
                          out,
                          "SELECT value FROM meta WHERE key = 'replayed'",
                          "--format",
                          "json"}))["rows"]
                .dump(),
            R"([["whatif"]])");
  EXPECT_THAT(refused({"--scale", "kind:host=0.5", "-o", out}).err, HasSubstr("exists"));
}

TEST_F(WhatifVerb, NamesWhatIsWrongWithAQuestion) {
  EXPECT_THAT(refused({}).err, HasSubstr("no question"));
  EXPECT_THAT(refused({"--scale", "nam:x=2"}).err, HasSubstr("--scale nam:x=2: unknown key 'nam'"));
  EXPECT_THAT(refused({"--scale", "name:x=fast"}).err, HasSubstr("'fast' is not a factor"));
  EXPECT_THAT(refused({"--set", "name:x=5kg"}).err, HasSubstr("5kg is not a time"));
  EXPECT_THAT(refused({"--ask", "no-straglers"}).err, HasSubstr("no question 'no-straglers'"));
  EXPECT_THAT(refused({"--ask", "no-stragglers,onli=x"}).err, HasSubstr("no setting 'onli'"));
  EXPECT_THAT(refused({"--ask", "no-stragglers,only"}).err, HasSubstr("KEY=VALUE"));
  EXPECT_THAT(refused({"--ask", "no-stragglers,only=\"name:x"}).err, HasSubstr("not closed"));
  EXPECT_THAT(refused({"--ask", "batch"}).err, HasSubstr("needs x="));
  EXPECT_THAT(refused({"--ask", "batch,x=two"}).err, HasSubstr("x='two'"));
  EXPECT_THAT(refused({"--ask", "device,to=H1000"}).err, HasSubstr("H200, B200"));
  EXPECT_EQ(refused({"--ask", "device,flops=x2"}).status, 4) << "no kernels";
  EXPECT_THAT(refused({"--ask", "compression,codec=gzip"}).err, HasSubstr("no codec 'gzip'"));
  EXPECT_THAT(refused({"--ask", "compression,codec=topk"}).err, HasSubstr("needs ratio="));
  for (const char* asked : {"batch,x=0",
                            "batch,x=2,fixed=2",
                            "accumulation,x=1.5",
                            "fusion,of=all",
                            "compression,speed=fast",
                            "block-sparsity",
                            "block-sparsity,density=2",
                            "block-sparsity,density=half",
                            "block-sparsity,density=0.5,block=0",
                            "block-sparsity,density=0.5,from=TPU",
                            "device",
                            "device,to=H1000",
                            "device,from=H100",
                            "device,flops=2",
                            "device,flops=x0",
                            "device,to=model",
                            "device,to=model,flops=x2",
                            "device,speed=x2",
                            "mixed-precision,matrix=0",
                            "overlap,bucket=0",
                            "no-host-syncs,x=1",
                            "recompute,share=half",
                            "workers",
                            "workers,n=-1",
                            "workers,n=1.5",
                            "workers,n=1000000000",
                            "workers,n=2,prefetch=0",
                            "streams",
                            "streams,branches=*,n=1",
                            "streams,branches=*,n=two",
                            "recompute,share=2",
                            "recompute,only=nam:x",
                            "cuda-graphs,launch=-1ms",
                            "cuda-graphs,calls=1",
                            "partition,size=0",
                            "next-forward,size=0",
                            "next-forward,size=fast",
                            "parameter-server,servers=0",
                            "parameter-server,servers=1.5",
                            "cache",
                            "cache,hit=110%",
                            "cache,hit=1,time=5kg",
                            "no-overlap-penalty,x=1"})
    EXPECT_EQ(refused({"--ask", asked}).status, 2) << asked;
  for (const auto& question :
       std::vector<std::vector<std::string>>{{},
                                             {"--scale", "nam:x=2"},
                                             {"--set", "name:x=5kg"},
                                             {"--remove", "kind:kernels"},
                                             {"--workers", "-1"},
                                             {"--workers", "10001"},
                                             {"--ranks", "0"},
                                             {"--ranks", "1.5"},
                                             {"--ask", "ranks,cores=2"},
                                             {"--ask", "ranks,n=4,batch=half"}})
    EXPECT_EQ(refused(question).status, 2);
}

TEST_F(WhatifVerb, HasNoAnswerWithoutWhatItNeeds) {
  EXPECT_EQ(refused({"--remove", "name:nothing"}).status, 4);
  EXPECT_THAT(refused({"--remove", "name:nothing"}).err, HasSubstr("'name:nothing'"));
  EXPECT_EQ(refused({"--ranks", "4"}).status, 4);
  EXPECT_THAT(refused({"--ranks", "4"}).err, HasSubstr("group-0 has 2 ranks"));
  EXPECT_EQ(refused({"--no-stragglers"}).status, 4);
  for (const char* asked : {"compression",
                            "fusion",
                            "mixed-precision",
                            "no-host-syncs",
                            "overlap",
                            "recompute,only=name:nothing",
                            "cuda-graphs",
                            "streams,branches=*",
                            "partition",
                            "next-forward",
                            "parameter-server",
                            "no-overlap-penalty"})
    EXPECT_EQ(refused({"--ask", asked}).status, 4) << asked;
  EXPECT_THAT(refused({"--no-stragglers"}).err, HasSubstr("one rank"));
}

// One rank ended early, and later iterations of the other one are slow.
TEST_F(WhatifVerb, AsksOnlyOfIterationsThatAllRanksHave) {
  test::TrainingRun run;
  run.slow = {28};
  run.extraNs = 50 * test::kMs;
  const std::string one = write(0, run);
  run.iterations = 27;
  const std::string two = write(1, run);
  const json answer =
      jsonOf(sonde({"whatif", one, two, "--scale", "kind:host=0.5", "--format", "json"}));
  EXPECT_EQ(answer["iterations"], 27);
  EXPECT_EQ(answer["baseline_ns"], 100 * test::kMs);
}

}  // namespace
}  // namespace sonde::cli
