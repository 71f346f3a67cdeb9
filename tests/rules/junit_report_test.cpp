// The JUnit report, read back by Python's XML parser.
#include "rules/reporters/reporters.h"
#include "tests/rules/report_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace sonde::rules {
namespace {

using nlohmann::json;
using test::everyKind;
using test::hostileReport;
using test::kSafe;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// The document as JSON, read and checked by Python's XML parser.
json readJunit(const std::string& document) {
  const test::Finished read = test::runScript("read_junit.py", document);
  EXPECT_EQ(read.status, 0) << read.err;
  return json::parse(read.out, nullptr, false);
}

TEST(JunitReport, SaysWhatFailedAndWhatDidNot) {
  const json suite = readJunit(renderJunit(everyKind()));
  EXPECT_EQ(suite["name"], "sonde check");
  EXPECT_EQ(suite["tests"], "10");
  EXPECT_EQ(suite["failures"], "1");
  EXPECT_EQ(suite["errors"], "1");
  EXPECT_EQ(suite["skipped"], "5");
  std::vector<std::string> kinds;
  for (const json& each : suite["children"])
    if (each["tag"] == "testcase")
      kinds.push_back(each.contains("children") ? each["children"][0]["tag"].get<std::string>()
                                                : "");
  EXPECT_THAT(kinds,
              ::testing::ElementsAre("",
                                     "failure",
                                     "system-out",
                                     "system-out",
                                     "skipped",
                                     "skipped",
                                     "skipped",
                                     "error",
                                     "skipped",
                                     "skipped"));
  const json& failed = suite["children"][1];
  EXPECT_EQ(failed["classname"], "step-outlier");
  EXPECT_EQ(failed["name"], "rank 0");
  EXPECT_EQ(failed["children"][0]["type"], "fired");
  EXPECT_EQ(failed["children"][0]["message"], "fired error");
  EXPECT_THAT(suite["children"][2]["children"][0]["text"].get<std::string>(),
              StartsWith("warning: fired warning\n"));
  EXPECT_EQ(suite["children"][8]["children"][0]["message"],
            "suppressed: repair (until 2027-01-05)");
  EXPECT_EQ(suite["children"][10]["text"], "a note\n");
}

TEST(JunitReport, HasEveryCharacterThatXmlAllows) {
  const std::string document = renderJunit(hostileReport());
  const json suite = readJunit(document);
  const json& failed = suite["children"][0];
  EXPECT_EQ(failed["classname"], kSafe);
  EXPECT_EQ(failed["name"], kSafe);
  EXPECT_EQ(failed["children"][0]["message"], kSafe);
  const auto text = failed["children"][0]["text"].get<std::string>();
  EXPECT_THAT(text, AllOf(HasSubstr("hint: " + kSafe), HasSubstr("query: " + kSafe)));
  EXPECT_EQ(suite["children"][1]["children"][0]["message"], kSafe);
  EXPECT_EQ(suite["children"][4]["children"][0]["message"], "suppressed: " + kSafe);
  EXPECT_THAT(document, Not(HasSubstr("]]>")));
  EXPECT_EQ(renderJunit(hostileReport()), document);  // no time, no host
}

TEST(JunitReport, WithoutResultsIsAnEmptySuite) {
  EXPECT_EQ(readJunit(renderJunit({}))["tests"], "0");
}

}  // namespace
}  // namespace sonde::rules
