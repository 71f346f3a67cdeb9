// For tests of the messages and exit statuses of `sonde` for unusable input and output.
#pragma once

#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace sonde::cli {

using test::Finished;
using test::runProgram;

class Refusals : public ::testing::Test {
 protected:
  std::string trace(const std::string& name = "t.sonde") {
    test::writeTrainingRun(folder_ / name, {});
    return folder_ / name;
  }
  static Finished sonde(std::vector<std::string> words) {
    words.insert(words.begin(), SONDE_PROGRAM);
    return runProgram(words);
  }
  // Exits with `status` and prints only one line, `sonde VERB: …`.
  static void expectRefusal(const Finished& finished, const std::string& verb, int status) {
    EXPECT_EQ(finished.status, status) << finished.err;
    EXPECT_EQ(finished.out, "");
    EXPECT_THAT(finished.err, ::testing::StartsWith("sonde " + verb + ": "));
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
  }

  test::TemporaryFolder folder_;
};

}  // namespace sonde::cli
