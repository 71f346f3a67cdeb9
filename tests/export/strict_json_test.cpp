#include "analysis/export/strict_json.h"

#include <gtest/gtest.h>

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
                                 "",
                                 "{}"})
    EXPECT_EQ(strictJson(json), json);
}

}  // namespace
}  // namespace sonde::exports
