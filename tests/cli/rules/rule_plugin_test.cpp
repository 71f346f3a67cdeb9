// Rules of plugins: runs `sonde check` and `sonde run` with the example, and with plugins that make
// mistakes.
#include "tests/cli/verbs_fixture.h"

#include <fmt/format.h>

#include <fstream>
#include <map>

namespace sonde::cli {
namespace {

using nlohmann::json;
using test::Finished;
using ::testing::HasSubstr;

constexpr const char* kCheckpoints = SONDE_EXAMPLES "/liblong_checkpoints.so";
constexpr const char* kRuleFaults = SONDE_TARGETS "/librule_faults.so";

class RulePlugin : public Verbs {
 protected:
  std::string rulesFile(const std::string& plugin, const std::string& rules) {
    const std::string path = folder_ / "sonde.toml";
    test::writeText(path, fmt::format("[plugins]\nfiles = [\"{}\"]\n[rules]\n{}\n", plugin, rules));
    return path;
  }
  // A rank that writes a checkpoint of `ms` in one of its ten iterations of 100 ms.
  std::string withCheckpoint(std::int64_t ms) {
    const std::string path = folder_ / fmt::format("checkpoint{}.sonde", ms);
    test::TraceBuilder trace(path);
    const auto rank = trace.add(
        model::Process{.hostId = trace.add(model::Host{.name = "h"}), .pid = 1, .rank = 3});
    const auto thread = trace.add(model::Thread{.processId = rank, .tid = 1});
    for (int i = 0; i < 10; ++i)
      trace.add(model::Iteration{.processId = rank,
                                 .number = i,
                                 .startNs = i * 100 * test::kMs,
                                 .durNs = 100 * test::kMs});
    trace.slice(thread, model::SliceKind::Checkpoint, "save", {test::kMs, (1 + ms) * test::kMs});
    trace.finish();
    return path;
  }
  static json only(const json& report) {
    EXPECT_EQ(report["results"].size(), 1U) << report;
    return report["results"][0];
  }
};

TEST_F(RulePlugin, JudgesByTheExample) {
  const std::string rules =
      rulesFile(kCheckpoints, R"(long-checkpoints = { severity = "error", max_share = 0.05 })");
  const Finished late = sonde({"check", withCheckpoint(51), "--rules", rules, "--format", "json"});
  EXPECT_EQ(late.status, 1);
  const json fired = only(jsonOf(late));
  EXPECT_EQ(fired["rule"], "long-checkpoints");
  EXPECT_EQ(fired["entity"], "rank 3");
  EXPECT_DOUBLE_EQ(fired["value"], 0.051);
  EXPECT_DOUBLE_EQ(fired["threshold"], 0.05);
  EXPECT_EQ(fired["message"], "1 checkpoints take 5.1 % of the time of the iterations");
  EXPECT_EQ(fired["evidence"]["checkpoints_ns"], 51'000'000);
  EXPECT_EQ(fired["hint"], "write checkpoints less often, or in the background");
  EXPECT_EQ(sonde({"check", withCheckpoint(50), "--rules", rules}).status, 0);
  const json none = only(jsonOf(sonde({"check", write(0), "--rules", rules, "--format", "json"})));
  EXPECT_EQ(none["verdict"], "skipped");
}

TEST_F(RulePlugin, ARuleInSqlCannotHaveItsName) {
  for (const char* named : {"long-checkpoints = \"error\"", "hang = \"off\""}) {
    const std::string rules = rulesFile(
        kCheckpoints, std::string(named) + "\n[sql.long-checkpoints]\nquery = \"SELECT 1\"");
    const Finished refused = sonde({"check", write(0), "--rules", rules});
    EXPECT_EQ(refused.status, 2) << refused.out;
    EXPECT_THAT(refused.err,
                HasSubstr("sonde.toml:5:6: 'long-checkpoints' is also a rule of a plugin: give"));
  }
}

TEST_F(RulePlugin, JudgesARunningJob) {
  const std::string rules = rulesFile(kRuleFaults, R"(wrong-verdict = "error")");
  const Finished finished =
      sonde({"run", "-o", folder_ / "x.sonde", "--rules", rules, "--", "true"});
  EXPECT_EQ(finished.status, 0);
  EXPECT_THAT(finished.err, HasSubstr("9 is no verdict"));
}

// Each fault is the error of its own rule, and the last rule is judged all the same.
TEST_F(RulePlugin, AFaultHarmsNobodyElse) {
  const std::map<std::string, std::string> faults = {
      {"crashes", "it crashed: signal 11"},
      {"exits", "ended without a result"},
      {"throws", "it threw an exception: of its own"},
      {"no-reason", "failed with 5 and no reason"},
      {"own-reason", "the moon is full"},
      {"wrong-sql", "no such column: absent"},
      {"writes", "query: "},
      {"refuses-row", "the function that got a row failed"},
      {"null-pointer", "an argument is a null pointer"},
      {"wrong-verdict", "9 is no verdict"},
      {"no-message", "the finding has no message"},
      {"not-finite", "value and threshold must be finite"},
      {"wrong-evidence", "evidence 1 has an invalid name"},
      {"too-many", "more than 100 findings"}};
  std::string rules = "is-fine = \"error\"\n";
  for (const auto& [rule, message] : faults)
    rules += rule + " = \"error\"\n";
  const Finished finished =
      sonde({"check", write(0), "--rules", rulesFile(kRuleFaults, rules), "--format", "json"});
  EXPECT_EQ(finished.status, 3);
  const json report = json::parse(finished.out, nullptr, false);
  ASSERT_EQ(report["results"].size(), faults.size() + 1) << finished.out;
  for (const json& result : report["results"]) {
    const std::string rule = result["rule"];
    if (rule == "is-fine") {
      EXPECT_EQ(result["verdict"], "pass") << result;
      continue;
    }
    EXPECT_EQ(result["verdict"], "error") << result;
    EXPECT_THAT(result["message"].get<std::string>(), HasSubstr(faults.at(rule))) << rule;
  }
}

TEST_F(RulePlugin, EndsARuleThatLoops) {
  const Finished finished =
      sonde({"check", write(0), "--rules", rulesFile(kRuleFaults, "loops = \"error\"")});
  EXPECT_EQ(finished.status, 3);
  EXPECT_THAT(finished.out, HasSubstr("took longer than 10 s"));
}

TEST_F(RulePlugin, RefusesWrongFilesAtTheirPlace) {
  const auto refusal = [&](const std::string& plugin, const std::string& rules) {
    const Finished finished = sonde({"check", write(0), "--rules", rulesFile(plugin, rules)});
    EXPECT_EQ(finished.status, 2) << finished.out;
    return finished.err;
  };
  EXPECT_THAT(refusal("missing.so", ""), HasSubstr("sonde.toml:2:10: plugin"));
  EXPECT_THAT(refusal(kCheckpoints, "long-checkpoint = \"error\""),
              HasSubstr("did you mean 'long-checkpoints'?"));
  EXPECT_THAT(refusal(kCheckpoints, "long-checkpoints = { max_share = 2 }"),
              HasSubstr("sonde.toml:4:22: rule long-checkpoints: "));
  EXPECT_THAT(refusal(SONDE_EXAMPLES "/libcached_loads.so", ""),
              HasSubstr("sonde_rule_descriptor"));
  const std::string text = folder_ / "text.so";
  test::writeText(text, "no ELF file");
  EXPECT_THAT(refusal(text, ""), HasSubstr("text.so"));
  const Finished twice = sonde(
      {"check", write(0), "--rules", rulesFile(fmt::format("{0}\", \"{0}", kCheckpoints), "")});
  EXPECT_EQ(twice.status, 2);
  EXPECT_THAT(twice.err, HasSubstr("two plugins have a rule 'long-checkpoints'"));
}

// A library of this descriptor must be refused with the message.
TEST_F(RulePlugin, RefusesWrongDescriptors) {
  const std::map<std::string, std::string> faults = {
      {R"({7u, (uint32_t)sizeof(sonde_rule_plugin), "p", "1", rules, 1})",
       "it was built for rule ABI 7, and this Sonde has 1"},
      {R"({SONDE_RULE_HEAD, "P p", "1", rules, 1})", "its name 'P p' is invalid"},
      {R"({SONDE_RULE_HEAD, "p", "1", rules, 0})", "it has no rules"},
      {R"({SONDE_RULE_HEAD, "p", "1", rules + 1, 1})", "has the name of a rule of Sonde"},
      {R"({SONDE_RULE_HEAD, "p", "1", rules + 2, 1})", "has no function judge"},
      {R"({SONDE_RULE_HEAD, "p", "1", rules + 3, 1})", "has the type 9, which does not exist"},
      {R"({SONDE_RULE_HEAD, "p", "1", rules + 4, 1})", "is not one line of UTF-8"}};
  int number = 0;
  for (const auto& [descriptor, message] : faults) {
    const std::string source = folder_ / fmt::format("p{}.c", number);
    const std::string library = folder_ / fmt::format("p{}.so", number++);
    test::writeText(source,
                    R"(#include "plugins/api/sonde_rule.h"
static int judge(const sonde_trace* t, const sonde_rule_value* v) { return t == 0 || v == 0; }
static const sonde_rule_parameter wrong[] = {{"x", "x", 9, 0, 0, 0, 0, 0}};
static const sonde_rule rules[] = {{"a", "a", 0, 0, 0, judge}, {"hang", "a", 0, 0, 0, judge},
  {"a", "a", 0, 0, 0, 0}, {"a", "a", 0, wrong, 1, judge}, {"a", "a\nb", 0, 0, 0, judge}};
const sonde_rule_plugin sonde_rule_descriptor = )" +
                        descriptor + ";\n");
    ASSERT_EQ(
        std::system(fmt::format("cc -shared -fPIC -I{} -o {} {}", SONDE_SOURCE_DIR, library, source)
                        .c_str()),
        0);
    const Finished finished = sonde({"check", write(0), "--rules", rulesFile(library, "")});
    EXPECT_EQ(finished.status, 2) << descriptor;
    EXPECT_THAT(finished.err, HasSubstr(message)) << descriptor;
  }
}

}  // namespace
}  // namespace sonde::cli
