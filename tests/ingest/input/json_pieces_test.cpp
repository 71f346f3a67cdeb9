#include "analysis/ingest/input/json_pieces.h"

#include "tests/support/run_program.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace sonde::ingest {
namespace {

using Kind = JsonPieces::Piece::Kind;
using nlohmann::json;

struct Read {
  std::vector<json> events;
  std::vector<std::pair<std::string, json>> members;
  std::string error;
  std::size_t pieces = 0;
  std::size_t longest = 0;
};

class JsonPiecesTest : public ::testing::Test {
 protected:
  Read read(std::string_view text) {
    const auto path = folder_.path() / "trace.json";
    std::ofstream(path, std::ios::binary) << text;
    auto source = ByteSource::open(path);
    EXPECT_TRUE(source) << source.error().message;
    JsonPieces pieces(*std::move(source), "traceEvents");
    Read result;
    for (;;) {
      const auto piece = pieces.next();
      if (!piece) {
        result.error = piece.error().message;
        const auto after = pieces.next();
        EXPECT_TRUE(after && after->kind == Kind::End) << "something follows an error";
        return result;
      }
      if (piece->kind == Kind::End)
        return result;
      const json value = json::parse(piece->text);
      if (piece->kind == Kind::Member) {
        result.members.emplace_back(piece->key, value);
        continue;
      }
      ++result.pieces;
      result.longest = std::max(result.longest, piece->text.size());
      EXPECT_EQ(text.substr(piece->offset + 1, piece->text.size() - 2),
                piece->text.substr(1, piece->text.size() - 2));
      result.events.insert(result.events.end(), value.begin(), value.end());
    }
  }

  test::TemporaryFolder folder_;
};

// Text that a splitter could take for structure.
std::string nastyText(std::mt19937& random) {
  static constexpr std::string_view kParts[] = {
      "\\", "\"", "{", "}", "[", "]", ",", ":", "\\\"", "},{", "\n", "a", "µ", "\\\\", "]}"};
  std::string text;
  for (auto count = random() % 20; count > 0; --count)
    text += kParts[random() % std::size(kParts)];
  return text;
}

json randomEvent(std::mt19937& random) {
  json event = {{"name", nastyText(random)}, {"ts", random()}};
  if (random() % 2 == 0)
    event["args"] = {{nastyText(random), json::array({1, nastyText(random), json::object()})}};
  return event;
}

json randomTrace(std::mt19937& random, std::size_t count) {
  json trace = {{"aFirst", {{"deep", json::array({1, "]", nastyText(random)})}}},
                {"traceEvents", json::array()},
                {"zLast", nastyText(random)}};
  for (std::size_t event = 0; event < count; ++event)
    trace["traceEvents"].push_back(randomEvent(random));
  return trace;
}

TEST_F(JsonPiecesTest, GivesEveryEventOnceInWindowsOfWholeOnes) {
  std::mt19937 random(1);
  for (const int indent : {-1, 1}) {
    const json trace = randomTrace(random, 40'000);
    const Read result = read(trace.dump(indent));
    EXPECT_EQ(result.error, "");
    EXPECT_EQ(json(result.events), trace["traceEvents"]);
    EXPECT_GT(result.pieces, 2U);
    EXPECT_LE(result.longest, 2 * JsonPieces::kWindow);
    ASSERT_EQ(result.members.size(), 2U);
    EXPECT_EQ(result.members[0], std::make_pair(std::string("aFirst"), trace["aFirst"]));
    EXPECT_EQ(result.members[1], std::make_pair(std::string("zLast"), trace["zLast"]));
  }
}

TEST_F(JsonPiecesTest, TakesATopLevelArrayWithOrWithoutItsEnd) {
  std::mt19937 random(2);
  const json events = randomTrace(random, 50)["traceEvents"];
  const std::string text = events.dump();
  const std::string open = text.substr(0, text.size() - 1);
  for (const std::string& variant :
       {text, open, open + ",", open + " ,\n", "\xEF\xBB\xBF" + text}) {
    const Read result = read(variant);
    EXPECT_EQ(result.error, "");
    EXPECT_EQ(json(result.events), events);
  }
}

TEST_F(JsonPiecesTest, GivesWhatIsWholeOfATraceThatIsCutShort) {
  std::mt19937 random(3);
  const json trace = randomTrace(random, 8);
  const std::string text = trace.dump();
  for (std::size_t size = 0; size < text.size(); ++size) {
    const Read result = read(text.substr(0, size));
    ASSERT_NE(result.error, "") << size;
    ASSERT_NE(result.error.find(" at byte "), std::string::npos) << result.error;
    ASSERT_LE(result.events.size(), trace["traceEvents"].size());
    for (std::size_t event = 0; event < result.events.size(); ++event)
      ASSERT_EQ(result.events[event], trace["traceEvents"][event]) << size;
  }
}

TEST_F(JsonPiecesTest, SkipsEmptyArrays) {
  const Read result = read(R"({"traceEvents": [ ], "a": []})");
  EXPECT_EQ(result.error, "");
  EXPECT_TRUE(result.events.empty());
  EXPECT_EQ(result.members.size(), 1U);
  EXPECT_EQ(read("[]").error, "");
}

TEST_F(JsonPiecesTest, TakesAnEventThatIsLongerThanAWindow) {
  const json trace = {
      {"traceEvents", {{{"name", std::string(3 * JsonPieces::kWindow, '"')}}, 1, 2}}};
  const Read result = read(trace.dump());
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(json(result.events), trace["traceEvents"]);
}

TEST_F(JsonPiecesTest, RefusesWhatIsNoTrace) {
  EXPECT_NE(read("").error.find("expected a JSON object or array at byte 0"), std::string::npos);
  EXPECT_NE(read("  x").error.find("at byte 2"), std::string::npos);
  EXPECT_NE(read(R"({"a" 1})").error.find("a colon is missing at byte 5"), std::string::npos);
  EXPECT_NE(read(R"({1:2})").error.find("name of a member is missing at byte 1"),
            std::string::npos);
}

TEST_F(JsonPiecesTest, SplitsAlsoWhatIsNestedAMillionDeep) {
  const std::string deep(1'000'000, '[');
  EXPECT_NE(read(deep).error.find("cut short"), std::string::npos);
  EXPECT_NE(read("{\"a\":" + deep).error.find("cut short"), std::string::npos);
  // As deep as the parser of this test can copy.
  const std::string closed = std::string(2000, '[') + std::string(2000, ']');
  const auto whole =
      read(R"({"a":)" + closed + R"(, "traceEvents": [{"i":1},)" + closed + R"(,{"i":2}]})");
  EXPECT_EQ(whole.error, "");
}

}  // namespace
}  // namespace sonde::ingest
