#include "recorder/options/tensor_plan.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace sonde::recorder {
namespace {

using Json = nlohmann::json;

Json planOf(const char* text) {
  const auto plan = parseTensorPlan(text, "a.toml");
  EXPECT_TRUE(plan) << plan.error().message;
  return plan ? Json::parse(*plan) : Json();
}

std::string errorOf(const char* text) {
  const auto plan = parseTensorPlan(text, "a.toml");
  EXPECT_FALSE(plan) << text;
  return plan ? "" : plan.error().message;
}

TEST(TensorPlan, WithoutCollectionsHasAllThatAreBuiltIn) {
  const Json plan = planOf("[tensors]\nevery = 7");
  EXPECT_EQ(plan["collections"].size(), 6U);
  for (const Json& collection : plan["collections"]) {
    EXPECT_EQ(collection["every"], 7);
    EXPECT_EQ(collection["implied"], true);
  }
}

TEST(TensorPlan, CollectionsTakeWhatTheyDoNotSayThemselves) {
  const Json plan = planOf(
      "[tensors]\nstart = 5\nfirst-nan = true\nsave-limit-mib = 2\n"
      "[tensors.weights]\nevery = 3\n"
      "[tensors.mine]\nof = ['inputs', 'losses']\ninclude = 'a'\niterations = [1, 2]\nsave = true");
  EXPECT_EQ(plan["first-nan"], true);
  EXPECT_EQ(plan["save-limit-mib"], 2);
  std::map<std::string, Json> collections;
  for (const Json& collection : plan["collections"])
    collections[collection["name"]] = collection;
  EXPECT_EQ(collections.at("weights"),
            (Json{{"name", "weights"}, {"of", {"weights"}}, {"every", 3}, {"start", 5}}));
  EXPECT_EQ(collections.at("mine"),
            (Json{{"name", "mine"},
                  {"of", {"inputs", "losses"}},
                  {"every", 100},
                  {"start", 5},
                  {"include", Json::array({"a"})},
                  {"iterations", {1, 2}},
                  {"save", true}}));
}

TEST(TensorPlan, SavesTheTensorsOfTheProgramIfAllAreSaved) {
  EXPECT_EQ(planOf("[tensors]\nsave = true\n[tensors.weights]\nsave = false")["save-given"], true);
  EXPECT_FALSE(planOf("[tensors.weights]\nsave = true").contains("save-given"));
  EXPECT_FALSE(planOf("[tensors]\nsave = false").contains("save-given"));
}

TEST(TensorPlan, NamesThePlaceOfAMistake) {
  EXPECT_EQ(errorOf("[tensors]\nevry = 1"),
            "a.toml:2:1: unknown key 'evry': did you mean 'every'?");
  EXPECT_EQ(errorOf("[tensors.weights]\nfirst-nan = true").substr(0, 24),
            "a.toml:2:1: unknown key ");
  EXPECT_EQ(errorOf("[tensors]\nevery = 1.5"),
            "a.toml:2:9: every: a whole number from 0 on is expected");
  EXPECT_EQ(errorOf("[tensors]\niterations = ['a']").substr(0, 24), "a.toml:2:14: iterations:");
  EXPECT_EQ(errorOf("tensors = 3"), "a.toml:1:1: only a table [tensors] is expected here");
  EXPECT_EQ(errorOf(""), "a.toml:1:1: there is no table [tensors]");
  EXPECT_NE(errorOf("[tensors.mine]").find("lacks of"), std::string::npos);
  EXPECT_NE(errorOf("[tensors").find("a.toml:1:"), std::string::npos);
}

TEST(TensorPlan, AnExpressionThatIsNoTextOfUnicodeIsRefused) {
  EXPECT_NE(errorOf("[tensors.weights]\ninclude = '\xff'"), "");
}

TEST(TensorPlan, WhatNoEnvironmentTakesIsRefused) {
  std::string text = "[tensors.weights]\niterations = [";
  for (int number = 0; number < 20'000; ++number)
    text += std::to_string(number) + ", ";
  EXPECT_NE(errorOf((text + "]").c_str()).find("too many"), std::string::npos);
}

TEST(TensorPlan, AFileThatIsNotThereIsNamed) {
  const auto plan = readTensorPlan("/no/such/file");
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().message, "cannot read /no/such/file: give --tensors a file that exists");
}

}  // namespace
}  // namespace sonde::recorder
