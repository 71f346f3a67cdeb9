// `sonde whatif --plugin`: runs the program with the example, and with plugins that make mistakes.
#include "tests/cli/verbs_fixture.h"
#include "tests/jobsim/simulation.h"
#include "tests/jobsim/workloads.h"
#include "tests/jobsim/write_trace.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <variant>

namespace sonde::cli {
namespace {

using nlohmann::json;
using test::Finished;
using ::testing::HasSubstr;

constexpr const char* kCache = SONDE_EXAMPLES "/libcached_loads.so";
constexpr const char* kFaults = SONDE_TARGETS "/libquestion_faults.so";

class WhatifPlugin : public Verbs {
 protected:
  // A rank that loads its batches itself.
  static jobsim::Job loading() {
    jobsim::Loader of;
    of.workers = 0;
    return jobsim::loaderJob(of);
  }
  std::string traceOf(const jobsim::Job& job, const char* name) {
    const std::string path = folder_ / name;
    jobsim::writeTrace(job, jobsim::simulate(job), path, 0);
    return path;
  }
  // A library of this source behind the header.
  std::string build(const std::string& name, const std::string& code) {
    const std::string source = folder_ / (name + ".c");
    std::ofstream(source) << "#include \"plugins/api/sonde_question.h\"\n" << code;
    const std::string library = folder_ / (name + ".so");
    const std::string command =
        fmt::format("cc -shared -fPIC -I{} -o {} {}", SONDE_SOURCE_DIR, library, source);
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    return library;
  }
  // The error of a plugin with these parts, which must have the exit status 2.
  std::string refusal(const std::string& name,
                      const std::string& question,
                      const std::string& head) {
    const std::string library = build(
        name,
        "static int ask(const sonde_job* j, const sonde_value* v) { return j == 0 || v == 0; }\n"
        "static const sonde_setting settings[] = {{\"x\", \"x\", SONDE_NUMBER, \"1\"}};\n"
        "static const sonde_candidate candidates[] = {{\"x=a\", \"try it\"}};\n"
        "static const sonde_question questions[] = {{" +
            question + "}};\nconst sonde_question_plugin sonde_question_descriptor = {" + head +
            "};\n");
    const Finished finished = sonde({"whatif", "--plugin", library, "--list"});
    EXPECT_EQ(finished.status, 2) << name;
    EXPECT_THAT(finished.err, HasSubstr("plugin"));
    return finished.err;
  }
  Finished askFaulty(const std::string& question) {
    return sonde({"whatif", trace_, "--plugin", kFaults, "--ask", question, "--format", "json"});
  }

  std::string trace_ = traceOf(loading(), "job.sonde");
};

// Every second load is a hit.
TEST_F(WhatifPlugin, AnswersAsTheSimulationDoes) {
  jobsim::Job job = loading();
  int loads = 0;
  for (jobsim::Op& op : job.threads[0].program)
    if (auto* compute = std::get_if<jobsim::Compute>(&op); compute && compute->name == "decode")
      compute->ns = loads++ % 2 == 1 ? 500'000 : compute->ns;
  const std::string then = traceOf(job, "then.sonde");
  const json truth = jsonOf(sonde({"replay", then, "--format", "json"}));
  const json answer = jsonOf(sonde({"whatif",
                                    trace_,
                                    "--plugin",
                                    kCache,
                                    "--ask",
                                    "cached-loads,hit=50%,hit_time=0.5ms",
                                    "--format",
                                    "json"}));
  EXPECT_EQ(answer["predicted_ns"], truth["measured_ns"]);
  EXPECT_LT(answer["predicted_ns"], answer["baseline_ns"]);
  EXPECT_THAT(answer["notes"].dump(), HasSubstr("6 of 12 loads come from the cache"));
  EXPECT_GT(answer["provenance"]["modelled"], 0.05);
}

TEST_F(WhatifPlugin, IsAskedInItsPlace) {
  const std::vector<std::string> words = {"whatif", trace_, "--plugin", kCache, "--format", "json"};
  const auto with = [&](std::vector<std::string> questions) {
    questions.insert(questions.begin(), words.begin(), words.end());
    return jsonOf(sonde(questions))["predicted_ns"];
  };
  EXPECT_LT(with({"--scale", "kind:data_load=3", "--ask", "cached-loads,hit=1"}),
            with({"--ask", "cached-loads,hit=1", "--scale", "kind:data_load=3"}));
  const std::string file = folder_ / "plan.toml";
  std::ofstream(file) << "[[question]]\nask = \"cached-loads\"\nhit = 1\n";
  EXPECT_EQ(with({"--file", file}), with({"--ask", "cached-loads,hit=1"}));
}

TEST_F(WhatifPlugin, IsFoundInTheEnvironment) {
  const std::string libraries = std::string("SONDE_PLUGIN_LIBRARIES=/nothing.so:") + kCache;
  const Finished finished = test::runProgram(
      {"env", libraries, SONDE_PROGRAM, "whatif", trace_, "--ask", "cached-loads,hit=1"});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(sonde({"whatif", trace_, "--ask", "cached-loads,hit=1"}).err,
              HasSubstr("no question 'cached-loads'"));
}

TEST_F(WhatifPlugin, ListsItsQuestionsAndCandidates) {
  const json list =
      jsonOf(sonde({"whatif", "--plugin", kCache, "--list", "--format", "json"}))["questions"];
  ASSERT_GT(list.size(), 10);
  EXPECT_EQ(list[0]["from"], "sonde");
  const json cache = list.back();
  EXPECT_EQ(cache["name"], "cached-loads");
  EXPECT_EQ(cache["from"], "plugin cached-loads 1.0");
  EXPECT_EQ(cache["settings"][0]["fallback"], json());
  EXPECT_EQ(cache["settings"][1]["type"], "time");
  EXPECT_EQ(cache["candidates"][1]["settings"], "hit=100%");
  EXPECT_THAT(cache["candidates"][1]["advice"].get<std::string>(), HasSubstr("keep the data set"));
  EXPECT_THAT(sonde({"whatif", "--list"}).out, HasSubstr("mixed-precision"));
}

TEST_F(WhatifPlugin, ChecksItsSettings) {
  const auto why = [&](const char* question) {
    const Finished finished = sonde({"whatif", trace_, "--plugin", kCache, "--ask", question});
    EXPECT_EQ(finished.status, 2) << question;
    return finished.err;
  };
  EXPECT_THAT(why("cached-loads"), HasSubstr("needs hit=…, as in cached-loads,hit=50%"));
  EXPECT_THAT(why("cached-loads,hit=2"), HasSubstr("hit='2' is not between 0 and 1"));
  EXPECT_THAT(why("cached-loads,hit=nan"), HasSubstr("hit='nan'"));
  EXPECT_THAT(why("cached-loads,hit=1,hit_time=5kg"), HasSubstr("5kg is not a time"));
  EXPECT_THAT(why("cached-loads,hits=1"), HasSubstr("no setting 'hits': it has hit, hit_time"));
  EXPECT_THAT(why("cash,hit=1"), HasSubstr(", cached-loads\n"));
  EXPECT_EQ(askFaulty("settled,number=2.5,fraction=25%,time=3ms,text=x").status, 0);
}

TEST_F(WhatifPlugin, ReportsMistakesOfAQuestion) {
  for (const auto& [question, status, reason] :
       std::vector<std::tuple<std::string, int, std::string>>{
           {"unknown-id", 2, "scale: there is no work 1000000"},
           {"no-id", 2, "remove: there is no work 0"},
           {"negative-time", 2, "set: a time of -1 ns is not between"},
           {"huge-time", 2, "insert: a time of 9223372036854775807 ns"},
           {"huge-sum", 2, "insert: a time of 1800"},
           {"not-a-number", 2, "scale_selected: a factor of nan"},
           {"infinite", 2, "scale: a factor of inf"},
           {"wrong-error", 2, "model_error: an error of nan"},
           {"null-selector", 2, "set_selected: the selector is a null pointer"},
           {"wrong-selector", 2, "remove_selected: unknown key 'nam'"},
           {"nothing", 4, "nothing in the trace matches 'name:nothing'"},
           {"null-job", 2, "scale_selected: its first argument is not the job"},
           {"other-thread", 2, "it failed with 2 and no reason"},
           {"throwing", 2, "it threw an exception: the plugin threw"},
           {"failing", 2, "it failed with 17 and no reason"},
           {"invalid", 2, "these settings contradict each other"},
           {"missing", 4, "the trace has no cache misses"},
           {"wrong-status", 2, "the status 99 is neither"},
           {"many-notes", 2, "more than 20 notes"}}) {
    const Finished finished = askFaulty(question);
    EXPECT_EQ(finished.status, status) << question << ": " << finished.err;
    EXPECT_EQ(finished.out, "");
    EXPECT_THAT(finished.err, HasSubstr("question '" + question + "' of plugin faults: "));
    EXPECT_THAT(finished.err, HasSubstr(reason));
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1);
  }
  const json answer = jsonOf(askFaulty("idle"));
  EXPECT_EQ(answer["predicted_ns"], answer["baseline_ns"]);
  EXPECT_THAT(answer["notes"].dump(), HasSubstr("a note with \uFFFD bytes"));
  EXPECT_THAT(answer["notes"].dump(), HasSubstr("'idle' changed nothing"));
}

TEST_F(WhatifPlugin, IsRefusedByName) {
  const std::string good = "\"mine\", \"is good\", settings, 1, 0, 0, ask";
  const std::string head = "SONDE_QUESTION_HEAD, \"own\", \"1\", questions, 1";
  EXPECT_THAT(
      refusal("abi", good, "7, sizeof(sonde_question_plugin), \"own\", \"1\", questions, 1"),
      HasSubstr("abi.so: it was built for question ABI 7, and this Sonde has 1"));
  EXPECT_THAT(refusal("size", good, "SONDE_QUESTION_ABI, 8, \"own\", \"1\", questions, 1"),
              HasSubstr("begin it with SONDE_QUESTION_HEAD"));
  EXPECT_THAT(refusal("name", good, "SONDE_QUESTION_HEAD, \"My own\", \"1\", questions, 1"),
              HasSubstr("'My own' is invalid"));
  EXPECT_THAT(refusal("none", good, "SONDE_QUESTION_HEAD, \"own\", \"1\", questions, 0"),
              HasSubstr("has no questions"));
  EXPECT_THAT(refusal("null", good, "SONDE_QUESTION_HEAD, \"own\", \"1\", 0, 1"),
              HasSubstr("its questions are missing"));
  EXPECT_THAT(refusal("noask", "\"mine\", \"is good\", settings, 1, 0, 0, 0", head),
              HasSubstr("'mine' has no function ask"));
  EXPECT_THAT(refusal("nohelp", "\"mine\", 0, settings, 1, 0, 0, ask", head),
              HasSubstr("the help of the question 'mine'"));
  EXPECT_THAT(refusal("own", "\"ranks\", \"is good\", settings, 1, 0, 0, ask", head),
              HasSubstr("as Sonde itself"));
  EXPECT_THAT(refusal("trial", "\"mine\", \"is good\", settings, 1, candidates, 1, ask", head),
              HasSubstr("candidate 'mine,x=a': x='a' is not a number"));
  const std::string probe = SONDE_EXAMPLES "/libballsim_probe.so";
  EXPECT_THAT(sonde({"whatif", trace_, "--plugin", probe, "--scale", "kind:host=2"}).err,
              HasSubstr("it exports no object sonde_question_descriptor"));
  EXPECT_EQ(sonde({"whatif", trace_, "--plugin", "/nothing.so"}).status, 2);
  EXPECT_EQ(sonde({"whatif", trace_, "--plugin", trace_}).status, 2);
  EXPECT_EQ(sonde({"whatif", "--plugin", kCache, "--ask", "cached-loads,hit=1"}).status, 2)
      << "no trace";
}

TEST_F(WhatifPlugin, OptimizeTriesItsCandidates) {
  const std::string trace = traceOf(loading(), "loads.sonde");
  const json plan = jsonOf(sonde(
      {"optimize", trace, "--plugin", kCache, "--questions", "cached-loads", "--format", "json"}));
  ASSERT_EQ(plan["plan"].size(), 1U);
  EXPECT_THAT(plan["plan"][0]["question"].get<std::string>(), HasSubstr("--ask cached-loads,hit="));
  EXPECT_LT(plan["together_ns"], plan["baseline_ns"]);
  EXPECT_EQ(sonde({"optimize", trace, "--questions", "cached-loads"}).status, 2);
}

// A shell gives the question of a plan to `sonde whatif` as it is printed.
TEST_F(WhatifPlugin, OptimizePrintsCandidatesForAShell) {
  for (const auto& [settings, question] : std::vector<std::pair<std::string, std::string>>{
           {"", "--ask mine"},
           {"from=\\\"a 'b', c\\\"", "--ask 'mine,from=\"a '\\''b'\\'', c\"'"}}) {
    const std::string library = build(
        settings.empty() ? "plain" : "quoted",
        "static int ask(const sonde_job* j, const sonde_value* v) {\n"
        "  return v == 0 ? 1 : j->remove_selected(j, \"kind:data_load\");\n}\n"
        "static const sonde_setting settings[] = {{\"from\", \"x\", SONDE_TEXT, \"y\"}};\n"
        "static const sonde_candidate candidates[] = {{\"" +
            settings +
            "\", \"try it\"}};\nstatic const sonde_question questions[] = {{\"mine\", \"is good\", "
            "settings, 1, candidates, 1, ask}};\nconst sonde_question_plugin "
            "sonde_question_descriptor = {SONDE_QUESTION_HEAD, \"own\", \"1\", questions, 1};\n");
    const json plan = jsonOf(sonde(
        {"optimize", trace_, "--plugin", library, "--questions", "mine", "--format", "json"}));
    ASSERT_EQ(plan["plan"].size(), 1U);
    EXPECT_EQ(plan["plan"][0]["question"], question);
    const Finished finished =
        test::runProgram({"sh",
                          "-c",
                          fmt::format("{} whatif {} --plugin {} --format json {}",
                                      SONDE_PROGRAM,
                                      trace_,
                                      library,
                                      plan["plan"][0]["question"].get<std::string>())});
    EXPECT_EQ(jsonOf(finished)["predicted_ns"], plan["together_ns"]);
  }
}

}  // namespace
}  // namespace sonde::cli
