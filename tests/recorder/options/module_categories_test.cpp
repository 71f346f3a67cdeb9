#include "recorder/options/module_categories.h"

#include <gtest/gtest.h>

namespace sonde::recorder {
namespace {

TEST(ModuleCategories, AreOneTextForTheEnvironment) {
  EXPECT_EQ(*moduleCategories({}), "");
  EXPECT_EQ(*moduleCategories({"my_env=simulator", "a.b=framework", "c=other", "d=python"}),
            "my_env=simulator,a.b=framework,c=other,d=python");
}

TEST(ModuleCategories, MistakesAreSaid) {
  for (const char* item : {"my_env", "=simulator", "a b=simulator", "a,b=simulator", "", "="}) {
    const auto text = moduleCategories({item});
    ASSERT_FALSE(text) << item;
    EXPECT_NE(text.error().message.find("my_env=simulator"), std::string::npos);
  }
  for (const char* item : {"a=", "a=game", "a=simulator=b", "a=simulator,b=other"})
    EXPECT_NE(moduleCategories({item}).error().message.find("choose framework"), std::string::npos)
        << item;
}

}  // namespace
}  // namespace sonde::recorder
