#include "recorder/run/run_options.h"

#include "recorder/options/sources.h"

#include <gtest/gtest.h>

#include <string>

namespace sonde::recorder {
namespace {

std::string unmet(const RunOptions& options, const char* sources) {
  return unmetNeed(options, *parseSources(sources));
}

TEST(RunOptions, AnOptionWithoutItsProbeIsNamed) {
  RunOptions options;
  EXPECT_EQ(unmet(options, "annotation"), "");
  options.cuda.counters = "roofline";
  EXPECT_EQ(unmet(options, "+stack"), "");
  EXPECT_EQ(unmet(options, "-cuda"),
            "--counters needs the cuda probe, which is off: give --sources +cuda");
}

TEST(RunOptions, EachOptionHasItsProbe) {
  RunOptions stacks;
  stacks.stacks.atWaits = true;
  EXPECT_NE(unmet(stacks, "+python").find("--sources +stack"), std::string::npos);
  EXPECT_EQ(unmet(stacks, "+stack"), "");
  RunOptions memory;
  memory.memoryThreshold = 1;
  EXPECT_NE(unmet(memory, "+stack").find("--sources +memory"), std::string::npos);
  EXPECT_EQ(unmet(memory, "+memory"), "");
  RunOptions allocations;
  allocations.stacks.atAllocations = true;
  EXPECT_NE(unmet(allocations, "+memory").find("--sources +stack"), std::string::npos);
  EXPECT_NE(unmet(allocations, "+stack").find("--sources +memory"), std::string::npos);
  EXPECT_EQ(unmet(allocations, "+stack,+memory"), "");
  RunOptions operators;
  operators.torchOperators = "names";
  EXPECT_NE(unmet(operators, "-torch").find("--torch-operators needs the torch"),
            std::string::npos);
  EXPECT_EQ(unmet(operators, "annotation,torch"), "");
  RunOptions categories;
  categories.moduleCategories = "a=simulator";
  EXPECT_NE(unmet(categories, "+stack").find("--sources +python"), std::string::npos);
  EXPECT_EQ(unmet(categories, "+python"), "");
  RunOptions tensors;
  tensors.tensorsFile = "a.toml";
  EXPECT_NE(unmet(tensors, "torch").find("--sources +tensor"), std::string::npos);
  EXPECT_EQ(unmet(tensors, "+tensor"), "");
  EXPECT_NE(unmet(RunOptions(), "tensor").find("needs the torch"), std::string::npos);
}

TEST(RunOptions, CalibrationNeedsSomethingToSwitchAndIterations) {
  RunOptions options;
  options.calibrate.blockIterations = 10;
  EXPECT_EQ(unmet(options, "net"), "");
  EXPECT_NE(unmet(options, "annotation,nvtx,system").find("no probe to switch off"),
            std::string::npos);
  options.capture = *parseCapture("range:warm");
  EXPECT_NE(unmet(options, "net").find("--capture iterations:A-B"), std::string::npos);
  options.capture = *parseCapture("every:10");
  EXPECT_EQ(unmet(options, "net"), "");
}

}  // namespace
}  // namespace sonde::recorder
