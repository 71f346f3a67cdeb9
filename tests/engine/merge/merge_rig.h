// Merges small training runs, for tests. One thread.
#pragma once

#include "analysis/engine/merge/merge.h"
#include "analysis/store/trace_file.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace sonde::test {

class MergeRig : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const TrainingRun& run) {
    writeTrainingRun(folder_ / name, run);
    return folder_ / name;
  }
  // The database of the merge's result; the test fails without one.
  store::Database mergeAll(const std::vector<std::string>& inputs) {
    const std::string output = folder_ / "job.sonde";
    auto merged = engine::merge::merge({{inputs.begin(), inputs.end()}, output, true});
    EXPECT_TRUE(merged) << (merged ? "" : merged.error().message);
    if (merged)
      summary_ = *merged;
    return must(store::openTrace(output));
  }
  std::string refusal(const std::vector<std::string>& inputs) {
    const std::string output = folder_ / "refused.sonde";
    const auto merged = engine::merge::merge({{inputs.begin(), inputs.end()}, output, false});
    EXPECT_FALSE(merged);
    EXPECT_FALSE(std::filesystem::exists(output));
    EXPECT_FALSE(std::filesystem::exists(output + ".part"));
    if (merged)
      return "";
    EXPECT_EQ(merged.error().code, ErrorCode::Unsupported);
    return merged.error().message;
  }

  TemporaryFolder folder_;
  engine::merge::MergeSummary summary_;
};

inline std::int64_t number(const store::Database& trace, const std::string& sql) {
  return must(trace.queryInteger(sql));
}

inline TrainingRun rank(std::int64_t number) {
  TrainingRun run;
  run.rank = number;
  return run;
}

// A cost for all processes of a trace must hold for these alone after the merge.

}  // namespace sonde::test
