// Runs to compare, and `sonde check --baseline` on them, by the built program.
#pragma once

#include "analysis/store/database.h"
#include "tests/cli/verbs_fixture.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace sonde::cli {

class BaselineVerb : public Verbs {
 protected:
  // A run of one rank, named for its place; each is recorded a minute after the one before. Its
  // iterations last 100 ms and `extraNs` more.
  std::string writeRun(const std::string& place, std::int64_t extraNs, int iterations = 30) {
    test::TrainingRun run;
    run.worldSize = 1;
    run.job = "";
    run.iterations = iterations;
    run.extraNs = extraNs;
    for (int number = 0; extraNs > 0 && number < iterations; ++number)
      run.slow.push_back(number);
    run.beginNs += minute_++ * 60'000 * test::kMs;
    const std::string path = folder_ / place;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    test::writeTrainingRun(path, run);
    return path;
  }
  // Runs of slightly different speed: their iterations last up to 0.5 ms more or less than
  // 102 ms and `extraNs`.
  std::vector<std::string> writeRuns(const std::string& side, int count, std::int64_t extraNs) {
    static constexpr std::int64_t kOffsets[] = {0, 300'000, -400'000, 500'000, -200'000};
    std::vector<std::string> runs;
    for (int i = 0; i < count; ++i)
      runs.push_back(writeRun(side + "/run" + std::to_string(i) + ".sonde",
                              2 * test::kMs + extraNs + kOffsets[i % 5]));
    return runs;
  }
  static void change(const std::string& trace, const std::string& sql) {
    auto database = test::must(store::Database::open(trace, store::Access::ReadWrite));
    test::must(database.exec(sql));
  }
  std::string rules(const std::string& text) {
    const std::string path = folder_ / "rules.toml";
    test::writeText(path, "[rules]\n" + text);
    return path;
  }
  // Calls `sonde check` with these words, in JSON, and returns the report.
  nlohmann::json check(std::vector<std::string> words, int status, const std::string& err = "") {
    words.insert(words.begin(), "check");
    words.insert(words.end(), {"--format", "json"});
    const test::Finished finished = sonde(words);
    EXPECT_EQ(finished.status, status) << finished.err << finished.out;
    EXPECT_EQ(finished.err, err);
    return nlohmann::json::parse(finished.out, nullptr, false);
  }
  static nlohmann::json resultOf(const nlohmann::json& report, const std::string& entity) {
    for (const nlohmann::json& result : report["results"])
      if (result["rule"] == "regression" && result["entity"] == entity)
        return result;
    return nullptr;
  }
  static nlohmann::json regressionsIn(const std::string& report) {
    nlohmann::json found = nlohmann::json::array();
    const nlohmann::json document = nlohmann::json::parse(report);
    for (const nlohmann::json& result : document["results"])
      if (result["rule"] == "regression")
        found.push_back(result);
    return found;
  }
  static std::vector<std::string> joined(std::vector<std::string> words,
                                         const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  std::string accept(const std::vector<std::string>& traces, const std::string& name = "b.json") {
    const std::string file = folder_ / name;
    const test::Finished accepted =
        sonde(joined({"baseline", "accept"}, joined(traces, {"-o", file, "-f"})));
    EXPECT_EQ(accepted.status, 0) << accepted.err;
    return file;
  }

  int minute_ = 0;
  const std::string kError = "regression = \"error\"\n";
};

}  // namespace sonde::cli
