#include "analysis/export/strict_json.h"

#include <gtest/gtest.h>

#include <utility>

namespace sonde::exports {
namespace {

TEST(StrictJson, QuotesWhatJsonHasNoWordFor) {
  EXPECT_EQ(strictJson(R"({"a": NaN,"b":[-Infinity, Infinity],"c":0x1f,"d":01,"e":.5,"f":1.})"),
            R"({"a": "NaN","b":["-Infinity", "Infinity"],"c":"0x1f","d":"01","e":".5","f":"1."})");
  EXPECT_EQ(strictJson("nan"), R"("nan")");
}

TEST(StrictJson, LeavesJsonAsItIs) {
  for (const char* const json : {R"({"NaN": "NaN, \"Infinity\"", "b": [true, false, null]})",
                                 R"([0, -0.5, 12e+3, 1E-2, -7, 0.25e1, "\\"])",
                                 "{}"})
    EXPECT_EQ(strictJson(json), json);
}

TEST(StrictJson, MakesOneStringOfWhatIsNoJson) {
  const std::pair<const char*, const char*> kCases[] = {
      {R"({"x":"a\qb"})", R"({"args":"{\"x\":\"a\\qb\"}"})"},
      {R"({"x":[1 2]})", R"({"args":"{\"x\":[1 2]}"})"},
      {R"({"x":[1,,2]})", R"({"args":"{\"x\":[1,,2]}"})"},
      {R"({"x":{"b"}})", R"({"args":"{\"x\":{\"b\"}}"})"},
      {R"({"x":NaN,})", R"({"args":"{\"x\":NaN,}"})"},
      {R"({"x":"open)", R"({"args":"{\"x\":\"open"})"},
      {"{\"x\":\"a\tb\"}", R"({"args":"{\"x\":\"a\tb\"}"})"},
      {"{\"x\":\"\xff\"}", "{\"args\":\"{\\\"x\\\":\\\"\xef\xbf\xbd\\\"}\"}"}};
  for (const auto& [text, json] : kCases)
    EXPECT_EQ(strictJson(text), json);
}

}  // namespace
}  // namespace sonde::exports
