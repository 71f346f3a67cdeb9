// `sonde shard`: runs the program on small files.
#include "tests/cli/refusals.h"

#include <fstream>

#include <nlohmann/json.hpp>

namespace sonde::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* kMachine =
    "ranks = 2\nmemory = \"1GB\"\nbatch = 1000\n"
    "device = {bandwidth = \"1000GB/s\", flops = 1e15, cache = \"1B\", cache-bandwidth = "
    "\"1000000GB/s\"}\n"
    "network = {bandwidth = \"100GB/s\", latency = \"10us\"}\n";

class ShardVerb : public Refusals {
 protected:
  std::string file(const std::string& text) {
    std::string path = folder_ / "tables.toml";
    std::ofstream(path) << text;
    return path;
  }
  void expectBadFile(const std::string& text, const std::string& message) {
    const Finished finished = sonde({"shard", file(text)});
    expectRefusal(finished, "shard", 2);
    EXPECT_THAT(finished.err, HasSubstr(message));
  }
  static json jsonOf(const Finished& finished) {
    EXPECT_EQ(finished.status, 0) << finished.err;
    return json::parse(finished.out, nullptr, false);
  }
};

// Lookups of a table of 64 numbers a row and one row a sample, for two ranks: 2000 samples move
// 32 + 256 + 256 bytes forward at 1.1 times, 32 + 512 + 256 backward.
TEST_F(ShardVerb, DividesTables) {
  std::string text = kMachine;
  for (const int rank : {0, 0, 1, 0})
    text += "[[table]]\nrows = 100000\ndim = 64\nrank = " + std::to_string(rank) + "\n";
  const json found = jsonOf(sonde({"shard", file(text), "--format", "json"}));
  EXPECT_EQ(found["schema"], 1);
  const double lookups = 2000 * (1.1 * (32 + 256 + 256) + 32 + 512 + 256) / 1000;
  EXPECT_NEAR(found["tables"][0]["ns"], lookups, 2);
  EXPECT_EQ(found["tables"][0]["bytes"], 100'000 * 64 * 4);
  EXPECT_EQ(found["tables"][0]["sent_bytes"], 1000 * 64 * 4);
  EXPECT_NEAR(found["ranks"][0]["ns"], 2 * lookups, 2);
  EXPECT_EQ(found["ranks"][0]["tables"], 2);
  EXPECT_NEAR(found["ranks"][0]["before_ns"], 3 * lookups, 3);
  // Two exchanges of what a rank sends, in one step of 10 µs and at 100 bytes a ns.
  EXPECT_NEAR(found["predicted_ns"], 2 * lookups + 2 * (10'000 + 2 * 256'000 / 100), 4);
  EXPECT_NEAR(found["before_ns"], 3 * lookups + 2 * (10'000 + 3 * 256'000 / 100), 4);
  EXPECT_EQ(found["before_fits"], true);

  const std::string shown = sonde({"shard", file(text)}).out;
  EXPECT_THAT(shown, HasSubstr("as the tables are now"));
  const std::string csv = sonde({"shard", file(text), "--format", "csv"}).out;
  EXPECT_THAT(csv, ::testing::StartsWith("table,rank,before,ns,bytes,sent_bytes\r\ntable 0,"));
}

TEST_F(ShardVerb, CompressesTables) {
  const std::string table = "[[table]]\nname = \"users\"\nrows = 10131227\ndim = 16\n";
  const std::string path = file(kMachine + table + "tt-rank = 32\n");
  const json found = jsonOf(sonde({"shard", path, "--format", "json"}));
  EXPECT_EQ(found["tables"][0]["table"], "users");
  EXPECT_LT(found["tables"][0]["bytes"], 4 * 500'000);
  // As it is, it needs 648 MB, and twice as much with an optimizer's state.
  EXPECT_EQ(sonde({"shard", file(kMachine + table)}).status, 0);
  const Finished full = sonde({"shard", file("optimizer-state = 1\n" + (kMachine + table))});
  expectRefusal(full, "shard", 4);
  EXPECT_THAT(full.err, HasSubstr("memory"));
}

TEST_F(ShardVerb, AssumesAndSays) {
  const std::string text =
      "ranks = 1\nmemory = \"1GB\"\nbatch = 10\ndevice = {name = \"A100\"}\n"
      "network = {bandwidth = \"1GB/s\", latency = \"1us\"}\n[[table]]\nrows = 10\ndim = 4\n";
  const json found = jsonOf(sonde({"shard", file(text), "--format", "json"}));
  EXPECT_THAT(found["notes"].dump(), HasSubstr("cache-bandwidth"));
  EXPECT_THAT(sonde({"shard", file(text)}).out, HasSubstr("dealt out one after the other"));
}

TEST_F(ShardVerb, RefusesBadFiles) {
  const std::string table = "[[table]]\nrows = 10\ndim = 4\n";
  expectBadFile("", "or it is empty");
  expectBadFile("ranks = ", "tables.toml:1:");
  expectBadFile("rank = 2\n", "tables.toml:1:1: there is no 'rank' here: did you mean 'ranks'?");
  expectBadFile("ranks = 0\n", "'ranks' is a whole number from 1");
  expectBadFile(std::string(kMachine), "there is no table: write [[table]]");
  expectBadFile(kMachine + table + "rank = 2\n", "the last one is 1");
  expectBadFile(kMachine + table + "skew = -1\n", "'skew' is a number from 0 to 10");
  expectBadFile(kMachine + std::string("[[table]]\nrows = 10\n"), "'dim' is missing");
  expectBadFile("ranks = 2\nmemory = \"1 bag\"\n", "'memory'");
  expectBadFile("ranks = 2\nmemory = 40\n",
                "'memory' is a text in quotes, as in memory = \"40GiB\"");
  expectBadFile("ranks = 2\n", "'memory' is missing: write memory = \"40GiB\"");
  const std::string machine =
      "ranks = 2\nmemory = \"1GB\"\nbatch = 1\ndevice = {name = \"A100\"}\n";
  expectBadFile(machine + "network = {bandwidth = \"1GB/s\"}\n",
                "'latency' is missing: write latency = \"10us\"");
  expectBadFile(machine + "network = {latency = \"1us\"}\n",
                "'bandwidth' is missing: write bandwidth = \"25GB/s\"");
  expectBadFile(kMachine + table + "tt-rank = 4097\n",
                "'tt-rank' is a whole number from 1 to 4096");
  expectBadFile(kMachine + std::string("[[table]]\nrows = 10\ndim = 1000001\n"),
                "'dim' is a whole number from 1 to 1000000");
  expectBadFile("ranks = 2\nmemory = \"1GB\"\nbatch = 1\ndevice = {name = \"Z80\"}\n" + table,
                "the peaks of 'Z80' are not known");
  expectBadFile("ranks = 2\nmemory = \"1GB\"\nbatch = 1\ndevice = {name = \"A100\"}\n" + table,
                "write [network]");
  const Finished missing = sonde({"shard", folder_ / "none.toml"});
  expectRefusal(missing, "shard", 2);
}

TEST_F(ShardVerb, NeedsAModelOfAllToAlls) {
  std::ofstream(folder_ / "model.json") << R"({"schema": 1, "models": []})";
  const std::string text =
      "ranks = 2\nmemory = \"1GB\"\nbatch = 1\ndevice = {name = \"A100\"}\n[[table]]\nrows = "
      "9\ndim "
      "= 4\n";
  const Finished finished = sonde({"shard", file(text), "--model", folder_ / "model.json"});
  EXPECT_NE(finished.status, 0);
  const Finished both = sonde({"shard",
                               file(kMachine + std::string("[[table]]\nrows = 9\ndim = 4\n")),
                               "--model",
                               folder_ / "model.json"});
  expectRefusal(both, "shard", 2);
  EXPECT_THAT(both.err, HasSubstr("leave one out"));
}

}  // namespace
}  // namespace sonde::cli
