// The file of learned invariants: what is written is read, and what was edited or cut is refused.
#include "rules/baseline/learned_file.h"

#include "rules/baseline/baseline_document.h"
#include "tests/rules/learned/made_up_runs.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>

#include <cmath>

namespace sonde::rules {
namespace {

using nlohmann::json;
using sonde::test::must;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kOddName = "encoder.\"0\"/\\ \u00e9\u4e2d\n'weight'";

class LearnedFiles : public ::testing::Test {
 protected:
  LearnedFiles() {
    std::vector<RunObservations> runs;
    for (unsigned seed = 1; seed <= 5; ++seed) {
      test::MadeUpRun run = test::goodRun(seed);
      for (int i = 0; i < test::kRunLength; ++i)
        run.stretch(0, i).operators[kOddName] = 1 + i % 2;
      runs.push_back(run.observed("run \u00fc \"" + std::to_string(seed) + "\".sonde"));
    }
    file_.created = "2027-01-31T12:00:00Z";
    file_.learned = must(learn(runs));
    file_.learned.dropped["values"]["varies"] = 3;
  }

  Result<LearnedFile> readText(const std::string& text) const {
    sonde::test::writeText(path_, text);
    const auto document = readBaselineDocument(path_);
    if (!document)
      return document.error();
    return readLearnedFile(path_, *document);
  }
  // The message of a file whose place has another value.
  std::string refusal(const std::string& pointer, const json& value) const {
    json document = json::parse(renderLearned(file_));
    document[json::json_pointer(pointer)] = value;
    const auto read = readText(document.dump());
    EXPECT_FALSE(read) << pointer;
    return read ? "" : read.error().message;
  }
  // The index of the first invariant with this member.
  std::string firstWith(const std::string& member) const {
    const json document = json::parse(renderLearned(file_));
    for (std::size_t i = 0; i < document["invariants"].size(); ++i)
      if (document["invariants"][i].contains(member))
        return std::to_string(i);
    return "none";
  }

  LearnedFile file_;
  sonde::test::TemporaryFolder folder_;
  std::string path_ = folder_ / "learned.json";
};

TEST_F(LearnedFiles, AreReadAsTheyWereWritten) {
  const std::string text = renderLearned(file_);
  const LearnedFile read = must(readText(text));
  EXPECT_EQ(renderLearned(read), text);
  EXPECT_EQ(read.created, file_.created);
  EXPECT_EQ(read.learned.runs, file_.learned.runs);
  EXPECT_EQ(read.learned.iterations, file_.learned.iterations);
  EXPECT_EQ(read.learned.dropped, file_.learned.dropped);
  ASSERT_EQ(read.learned.invariants.size(), file_.learned.invariants.size());
  bool hasOdd = false;
  for (const Invariant& each : read.learned.invariants)
    hasOdd = hasOdd || each.key.subject == std::string("operator ") + kOddName;
  EXPECT_TRUE(hasOdd);
}

TEST_F(LearnedFiles, KeepIterationsOfAPathThatRecordedNothing) {
  Invariant& invariant = file_.learned.invariants.front();
  invariant.form = Path{2, {0.5, std::nan(""), 0.25}};
  const LearnedFile read = must(readText(renderLearned(file_)));
  const Path& path = std::get<Path>(read.learned.invariants.front().form);
  EXPECT_EQ(path.first, 2);
  ASSERT_EQ(path.values.size(), 3U);
  EXPECT_TRUE(std::isnan(path.values[1]));
  EXPECT_EQ(path.values[2], 0.25);
}

TEST_F(LearnedFiles, KeepFactorsOfALawAndRefuseWrongOnes) {
  const double unknown = std::nan("");
  file_.learned.invariants.resize(1);
  file_.learned.invariants[0].form =
      Law{4, {{0.9, 0.1, 0.001}, {unknown, unknown, unknown}, {0.8, 0.2, 0}}};
  const LearnedFile read = must(readText(renderLearned(file_)));
  const Law& law = std::get<Law>(read.learned.invariants.front().form);
  EXPECT_EQ(law.first, 4);
  ASSERT_EQ(law.factors.size(), 3U);
  EXPECT_EQ(law.factors[0], (UpdateFactors{0.9, 0.1, 0.001}));
  EXPECT_TRUE(std::isnan(law.factors[1][0]));
  const std::string factors = "/invariants/0/law/factors";
  EXPECT_THAT(refusal(factors, json::array()), HasSubstr(".law.factors must be a list"));
  EXPECT_THAT(refusal(factors + "/0", json::array({1, 2})),
              HasSubstr(".law.factors[0] must be a list of 3 to 3"));
  EXPECT_THAT(refusal(factors + "/0/1", "x"), HasSubstr(".law.factors[0][1] must be a number"));
}

TEST_F(LearnedFiles, CutAtAnyByteAreRefused) {
  file_.learned.invariants.resize(3);
  const std::string text = renderLearned(file_);
  for (std::size_t length = 1; length + 2 < text.size(); ++length) {
    const auto read = readText(text.substr(0, length));
    ASSERT_FALSE(read) << length;
    ASSERT_EQ(read.error().code, ErrorCode::Corrupt);
  }
}

TEST_F(LearnedFiles, EditedOnesAreRefusedWithThePlace) {
  const std::string oneOf = "/invariants/" + firstWith("one_of");
  const std::string path = "/invariants/" + firstWith("path");
  const std::string range = "/invariants/" + firstWith("range");
  const json list = json::array();
  for (const auto& [pointer, value, place] :
       std::vector<std::tuple<std::string, json, std::string>>{
           {"/schema", 2, "$.schema must be a whole number from 1 to 1, not 2"},
           {"/kind", "sonde-baseline", "$.kind must be \"sonde-learned\""},
           {"/runs", json::array({"a"}), "$.runs must be a list of 5 to 100 elements"},
           {"/iterations", 0, "$.iterations must be"},
           {"/more", 1, "$.more must be left out"},
           {"/dropped", 1, "$.dropped must be an object"},
           {"/dropped/values/varies", -1, "$.dropped.values.varies must be"},
           {"/invariants", list, "$.invariants must be a list"},
           {oneOf + "/kind", "colour", ".kind must be one of order, calls"},
           {oneOf + "/subject", 4, ".subject must be a text"},
           {oneOf + "/samples", "4", ".samples must be a whole number"},
           {oneOf + "/one_of/from", 9, ".one_of.from must be a whole number from 0 to 3"},
           {oneOf + "/one_of/values", list, ".one_of.values must be a list of 1 to 4"},
           {oneOf + "/one_of/values/0", 1, ".one_of.values[0] must be a text"},
           {oneOf + "/path", 1, ".path must be"},
           {path + "/path/values", list, ".path.values must be a list"},
           {path + "/path/values/0", "x", ".path.values[0] must be a number"},
           {range + "/range", list, ".range must be a list"},
           {range + "/range/0", json::array({0, 0, 1}), ".range[0] must be a list of 4 to 4"},
           {range + "/range/0", json::array({1, 0, 1, 2}), ".range[0][1] must be a whole number"},
           {range + "/range/0", json::array({0, 0, 3, 2}), ".range[0][3] must be a number from 3"},
           {range + "/range/1", json::array({0, 0, 1, 2}), ".range[1] must be after the stage"}})
    EXPECT_THAT(refusal(pointer, value),
                AllOf(HasSubstr(path_), HasSubstr(place), HasSubstr("sonde baseline learn")))
        << pointer;
}

TEST_F(LearnedFiles, WithoutAFormAnInvariantIsRefused) {
  json document = json::parse(renderLearned(file_));
  document["invariants"][0].erase("one_of");
  document["invariants"][0].erase("path");
  document["invariants"][0].erase("law");
  document["invariants"][0].erase("range");
  const auto read = readText(document.dump());
  ASSERT_FALSE(read);
  EXPECT_THAT(
      read.error().message,
      HasSubstr("$.invariants[0] must be an object with 'one_of', 'path', 'law' or 'range'"));
}

}  // namespace
}  // namespace sonde::rules
