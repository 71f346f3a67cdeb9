#include "rules/configuration/configuration.h"
#include "tests/rules/rule_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::rules {
namespace {

using sonde::test::must;

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class SqlRules : public sonde::test::DeviceTrace {
 protected:
  void kernels() {
    for (const std::int64_t number : {0, 1}) {
      const Rank one = rank(number);
      const auto stream = this->stream(one, 7);
      kernel(stream, "gemm", {100, 400 + 100 * number});
      kernel(stream, "it's; DROP TABLE kernel", {600, 900});
    }
  }
  std::vector<CheckResult> judge(const std::string& toml) {
    const auto configuration = parseConfiguration(toml, "sonde.toml", "");
    EXPECT_TRUE(configuration) << (configuration ? "" : configuration.error().message);
    if (!configuration)
      return {};
    if (!isOpen_)
      trace_->finish();
    isOpen_ = true;
    const store::Database trace = must(store::openTrace(path()));
    return must(check(trace, *configuration)).results;
  }
  static std::string errorOf(const std::string& toml) {
    const auto configuration = parseConfiguration(toml, "sonde.toml", "");
    EXPECT_FALSE(configuration);
    return configuration ? "" : configuration.error().message;
  }
  bool isOpen_ = false;
};

TEST_F(SqlRules, EachRowIsAFinding) {
  kernels();
  const auto results = judge(R"([sql.long-kernels]
severity = "error"
summary = "kernels over the limit"
hint = "fuse them"
query = """SELECT 'rank ' || rank AS entity, max(dur_ns) AS value, :limit AS threshold, name AS kernel
  FROM v_kernel WHERE dur_ns > :limit GROUP BY rank ORDER BY rank"""
parameters = { limit = 299 }
)");
  ASSERT_THAT(results, SizeIs(2));
  EXPECT_EQ(results[1].rule, "long-kernels");
  EXPECT_EQ(results[1].severity, Severity::Error);
  EXPECT_EQ(results[1].entity, "rank 1");
  EXPECT_EQ(results[1].outcome.verdict, Verdict::Fired);
  EXPECT_DOUBLE_EQ(*results[1].outcome.value, 400);
  EXPECT_DOUBLE_EQ(*results[1].outcome.threshold, 299);
  EXPECT_EQ(results[1].outcome.hint, "fuse them");
  EXPECT_EQ(std::get<std::string>(results[1].outcome.evidence.at("kernel")), "gemm");
  EXPECT_THAT(results[1].outcome.message, HasSubstr("kernels over the limit: value 400"));
}

TEST_F(SqlRules, WithoutARowItPasses) {
  kernels();
  const auto results = judge(
      "[sql.a]\nquery = \"SELECT 1 FROM v_kernel WHERE dur_ns > :limit\"\nparameters = { limit = "
      "400 "
      "}\n");
  ASSERT_THAT(results, SizeIs(1));
  EXPECT_EQ(results[0].outcome.verdict, Verdict::Pass);
  EXPECT_EQ(results[0].severity, Severity::Warning);
}

TEST_F(SqlRules, WithoutItsDataItIsInsufficient) {
  kernels();
  const auto results = judge(
      "[sql.a]\nquery = \"SELECT 1 FROM copy WHERE bytes > 3\"\nrequires = \"SELECT count(*) FROM "
      "copy\"\n");
  ASSERT_THAT(results, SizeIs(1));
  EXPECT_EQ(results[0].outcome.verdict, Verdict::Insufficient);
}

TEST_F(SqlRules, AParameterIsAValueAndNoText) {
  kernels();
  const auto results = judge(
      "[sql.a]\nquery = \"SELECT count(*) AS value FROM v_kernel WHERE name = :name HAVING "
      "count(*) > "
      "0\"\nparameters = { name = \"it's; DROP TABLE kernel\" }\n");
  ASSERT_THAT(results, SizeIs(1));
  EXPECT_DOUBLE_EQ(*results[0].outcome.value, 2);
}

TEST_F(SqlRules, AStatementThatNeverEndsIsAnErrorAndStopsNobodyElse) {
  kernels();
  const auto results = judge(
      "[rules]\nstep-outlier = \"error\"\n[sql.a]\nquery = \"WITH RECURSIVE n(x) AS (SELECT 1 "
      "UNION "
      "ALL SELECT x + 1 FROM n) SELECT count(*) FROM n\"\ntime_limit_s = 0.2\n");
  ASSERT_THAT(results, SizeIs(2));
  EXPECT_EQ(results[0].outcome.verdict, Verdict::Error);
  EXPECT_THAT(results[0].outcome.message, HasSubstr("took longer than 0.2 s"));
  EXPECT_EQ(results[1].outcome.verdict, Verdict::Insufficient);
}

TEST_F(SqlRules, AHugeValueIsAnError) {
  kernels();
  const auto results =
      judge("[sql.a]\nquery = \"SELECT length(printf('%.*c', 100000000, 'x')) AS value\"\n");
  ASSERT_THAT(results, SizeIs(1));
  EXPECT_NE(results[0].outcome.verdict, Verdict::Pass);
}

TEST_F(SqlRules, ALongValueIsAnErrorBeforeAFunctionGetsIt) {
  kernels();
  for (const char* sql :
       {"SELECT instr(hex(zeroblob(1900000)), hex(zeroblob(950000)) || '1') AS value",
        "SELECT length(replace(hex(zeroblob(32000)), '0', '00')) AS value",
        "SELECT length(zeroblob(65537)) AS value"}) {
    const auto results = judge(std::string("[sql.a]\nquery = \"") + sql + "\"\n");
    ASSERT_THAT(results, SizeIs(1));
    EXPECT_EQ(results[0].outcome.verdict, Verdict::Error) << sql;
    EXPECT_THAT(results[0].outcome.message, HasSubstr("longer than the 65536 bytes")) << sql;
  }
  const auto fits = judge("[sql.a]\nquery = \"SELECT length(hex(zeroblob(32000))) AS value\"\n");
  EXPECT_EQ(fits[0].outcome.verdict, Verdict::Fired);
}

TEST_F(SqlRules, ACellThatIsNoNumberOrNoNameIsAnErrorOfItsColumn) {
  kernels();
  for (const auto& [sql, message] :
       {std::pair("'abc' AS value", "column 'value' of a row is 'abc': a finite number"),
        std::pair("9e999 AS value", "column 'value' of a row is 'Inf': a finite number"),
        std::pair("1 AS value, x'41' AS threshold", "column 'threshold' of a row is 'A'"),
        std::pair("-9e999 AS other", "column 'other' of a row is '-Inf'"),
        std::pair("'' AS entity, 1 AS value", "column 'entity' of a row is '': a text")}) {
    const auto results = judge(std::string("[sql.a]\nquery = \"SELECT ") + sql + "\"\n");
    ASSERT_THAT(results, SizeIs(1));
    EXPECT_EQ(results[0].outcome.verdict, Verdict::Error) << sql;
    EXPECT_THAT(results[0].outcome.message, HasSubstr(message));
  }
  const auto results = judge(
      "[sql.a]\nquery = \"SELECT NULL AS value, NULL AS entity, 'abc' AS other\"\nrequires = "
      "\"SELECT 1\"\n");
  EXPECT_EQ(results[0].outcome.verdict, Verdict::Fired);
  EXPECT_EQ(results[0].entity, "job");
  EXPECT_EQ(
      judge("[sql.a]\nquery = \"SELECT 1\"\nrequires = \"SELECT 'abc'\"\n")[0].outcome.verdict,
      Verdict::Error);
}

// Each call is short, but a hundred thousand of them are not.
TEST_F(SqlRules, SlowFunctionsEndAtTheLimit) {
  kernels();
  const auto results = judge(
      "[sql.a]\nquery = \"WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT "
      "100000) SELECT sum(instr(hex(zeroblob(30000)), hex(zeroblob(15000)) || x)) AS value FROM "
      "n\"\ntime_limit_s = 0.2\n");
  ASSERT_THAT(results, SizeIs(1));
  EXPECT_EQ(results[0].outcome.verdict, Verdict::Error);
  EXPECT_THAT(results[0].outcome.message, HasSubstr("took longer than 0.2 s"));
}

TEST_F(SqlRules, ManyRowsAreCut) {
  kernels();
  const auto results = judge(
      "[sql.a]\nquery = \"WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT "
      "150) "
      "SELECT x FROM n\"\n");
  ASSERT_THAT(results, SizeIs(100));
  EXPECT_THAT(results.back().outcome.message, HasSubstr("50 more rows are left out"));
}

TEST_F(SqlRules, OnlyReadingIsAllowed) {
  for (const char* sql : {"DELETE FROM kernel",
                          "INSERT INTO meta VALUES ('a', 'b')",
                          "DROP TABLE kernel",
                          "ATTACH '/tmp/other.sqlite' AS other",
                          "PRAGMA table_info(kernel)",
                          "SELECT * FROM pragma_table_info('kernel')",
                          "SELECT load_extension('x')",
                          "BEGIN",
                          "VACUUM INTO '/tmp/x.sqlite'",
                          "CREATE TEMP TABLE t(a)"})
    EXPECT_THAT(errorOf(std::string("[sql.a]\nquery = \"") + sql + "\"\n"),
                HasSubstr("sonde.toml:2:9: rule a: "))
        << sql;
}

TEST_F(SqlRules, MistakesAreFoundWithoutATrace) {
  EXPECT_THAT(errorOf("[sql.a]\nquery = \"SELECT nme FROM v_kernel\"\n"),
              AllOf(HasSubstr("sonde.toml:2:9: rule a: "), HasSubstr("no such column: nme")));
  EXPECT_THAT(errorOf("[sql.a]\nquery = \"SELECT 1 WHERE :x > 0\"\n"),
              HasSubstr("the statement uses :x, which has no value"));
  EXPECT_THAT(errorOf("[sql.a]\nquery = \"SELECT ?\"\n"), HasSubstr("a parameter without a name"));
  EXPECT_THAT(errorOf("[sql.a]\nseverity = \"error\"\n"),
              HasSubstr("sonde.toml:1:1: [sql.a] needs 'query', a SELECT"));
  EXPECT_THAT(errorOf("[sql.a]\nquery = \"SELECT 1\"\nlimit = 3\n"),
              HasSubstr("sonde.toml:3:1: unknown key 'limit'"));
  EXPECT_THAT(errorOf("[sql.hang]\nquery = \"SELECT 1\"\n"),
              HasSubstr("sonde.toml:1:6: 'hang' is a rule of Sonde"));
  EXPECT_THAT(errorOf("[sql.\"A b\"]\nquery = \"SELECT 1\"\n"), HasSubstr("is no name of a rule"));
  EXPECT_THAT(errorOf("[sql.a]\nquery = \"SELECT 1; SELECT 2\"\n"), HasSubstr("rule a: "));
  EXPECT_THAT(errorOf("[sql.a]\nquery = \"SELECT 1\"\nparameters = { x = [1] }\n"),
              HasSubstr("a parameter must be a number or a text"));
  EXPECT_THAT(errorOf("[sql.a]\nquery = \"SELECT 1\"\ntime_limit_s = 0\n"),
              HasSubstr("a number of seconds"));
}

TEST_F(SqlRules, TheConnectionIsUnrestrictedAfterwards) {
  kernels();
  trace_->finish();
  isOpen_ = true;
  const store::Database trace = must(store::openTrace(path()));
  const auto configuration = parseConfiguration("[sql.a]\nquery = \"SELECT 1\"\n", "f", "");
  must(check(trace, *configuration));
  EXPECT_TRUE(trace.queryInteger("PRAGMA user_version"));
}

}  // namespace
}  // namespace sonde::rules
