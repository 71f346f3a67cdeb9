#include "analysis/engine/whatif/selector.h"

#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::engine::whatif {
namespace {

using test::must;
using ::testing::HasSubstr;

std::string refusal(const std::string& text) {
  const auto parsed = parseSelector(text);
  return parsed ? "accepted" : parsed.error().message;
}

TEST(Selector, HasAPatternForEachKey) {
  const Selector selector = must(parseSelector("name:*gemm*,rank:0"));
  EXPECT_EQ(selector.globOf(Key::Name), "*gemm*");
  EXPECT_EQ(selector.globOf(Key::Rank), "0");
  EXPECT_EQ(selector.globOf(Key::Stream), std::nullopt);
}

TEST(Selector, AValueMayHaveColons) {
  EXPECT_EQ(must(parseSelector("operator:aten::mm")).globOf(Key::Operator), "aten::mm");
}

TEST(Selector, QuotesProtectCommasAndQuotes) {
  const Selector selector = must(parseSelector(R"(name:"f<a, \"b\">",kind:kernel)"));
  EXPECT_EQ(selector.globOf(Key::Name), R"(f<a, "b">)");
  EXPECT_EQ(selector.globOf(Key::Kind), "kernel");
}

TEST(Selector, TheLastEqualsSignDividesItFromItsValue) {
  const SelectorValue parsed = must(parseSelectorValue("name:a=b=0.5"));
  EXPECT_EQ(parsed.selector.globOf(Key::Name), "a=b");
  EXPECT_EQ(parsed.value, "0.5");
}

TEST(Selector, RefusesOtherForms) {
  EXPECT_THAT(refusal(""), HasSubstr("empty"));
  EXPECT_THAT(refusal("gemm"), HasSubstr("KEY:PATTERN"));
  EXPECT_THAT(refusal("nam:x"), HasSubstr("unknown key 'nam'"));
  EXPECT_THAT(refusal("name:"), HasSubstr("no pattern"));
  EXPECT_THAT(refusal("name:a,name:b"), HasSubstr("twice"));
  EXPECT_THAT(refusal("name:\"a"), HasSubstr("not closed"));
  EXPECT_THAT(refusal("name:\"a\"b"), HasSubstr("comma"));
  EXPECT_FALSE(parseSelectorValue("name:a"));
}

}  // namespace
}  // namespace sonde::engine::whatif
