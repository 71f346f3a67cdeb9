// Runs the program as a user does, on small traces in a temporary folder.
#pragma once

#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace sonde::cli {

class Verbs : public ::testing::Test {
 protected:
  // An answer, or one line with the reason for its absence.
  static void expectAnswerOrReason(const test::Finished& finished, const std::string& verb) {
    EXPECT_THAT(finished.status, ::testing::AnyOf(0, 2, 3)) << finished.err;
    if (finished.status == 0) {
      EXPECT_NE(finished.out, "");
      return;
    }
    EXPECT_EQ(finished.out, "");
    EXPECT_THAT(finished.err, ::testing::StartsWith("sonde " + verb + ": "));
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
  }
  std::string write(std::int64_t rank, test::TrainingRun run = {}) {
    run.rank = rank;
    const std::string path = folder_ / ("rank" + std::to_string(rank) + ".sonde");
    std::filesystem::remove(path);
    test::writeTrainingRun(path, run);
    return path;
  }
  static test::Finished sonde(std::vector<std::string> words) {
    words.insert(words.begin(), SONDE_PROGRAM);
    return test::runProgram(words);
  }
  static nlohmann::json jsonOf(const test::Finished& finished) {
    EXPECT_EQ(finished.err, "");
    return nlohmann::json::parse(finished.out, nullptr, false);
  }
  // Compares with a file of tests/cli/golden; SONDE_REWRITE_GOLDEN=1 writes it instead.
  static void expectGolden(const std::string& name, const std::string& text) {
    const std::string path = std::string(SONDE_SOURCE_DIR "/tests/cli/golden/") + name;
    if (std::getenv("SONDE_REWRITE_GOLDEN") != nullptr)
      test::writeText(path, text);
    EXPECT_EQ(text, test::readText(path)) << "in " << path;
  }

  test::TemporaryFolder folder_;
};

}  // namespace sonde::cli
