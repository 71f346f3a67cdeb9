#include "cli/text/table.h"

#include <gtest/gtest.h>

#include <limits>

#include <nlohmann/json.hpp>

namespace sonde::cli {
namespace {

Table sample() {
  return {{{"name", "name", ColumnKind::Text},
           {"ns", "time", ColumnKind::DurationNs},
           {"share", "share", ColumnKind::Fraction}},
          {{std::string("a, \"b\""), std::int64_t{1'500'000}, 0.25},
           {std::string("Größe"), std::int64_t{12}, std::monostate{}}}};
}

TEST(Table, AlignsByCharactersAndNumbersToTheRight) {
  EXPECT_EQ(renderText(sample()),
            "name      time   share\n"
            "a, \"b\"  1.5 ms  25.0 %\n"
            "Größe    12 ns       -\n");
}

TEST(Table, CutsLinesAtTheWidth) {
  EXPECT_EQ(renderText(sample(), 2, 10),
            "  name   …\n"
            "  a, \"b\" …\n"
            "  Größe  …\n");
}

TEST(Table, CutsTextsBeforeNumbers) {
  Table table = sample();
  table.rows[0][0] = std::string("rank 0, process 123456");
  EXPECT_EQ(renderText(table, 2, 30),
            "  name            time   share\n"
            "  rank 0, pro…  1.5 ms  25.0 %\n"
            "  Größe          12 ns       -\n");
}

TEST(Table, QuotesCsvAsTheStandardSays) {
  EXPECT_EQ(renderCsv(sample()), "name,ns,share\r\n\"a, \"\"b\"\"\",1500000,0.25\r\nGröße,12,\r\n");
}

TEST(Table, GivesJsonKeysAndRawNumbers) {
  EXPECT_EQ(
      rowsAsObjects(sample()).dump(),
      R"([{"name":"a, \"b\"","ns":1500000,"share":0.25},{"name":"Größe","ns":12,"share":null}])");
}

TEST(Table, WritesBlobsAsHexAndInfinityAsNull) {
  EXPECT_EQ(cellAsJson(Blob{std::string("\x00\xff", 2)}).dump(), "\"00ff\"");
  EXPECT_TRUE(cellAsJson(std::numeric_limits<double>::infinity()).is_null());
}

TEST(Table, ReplacesBadUtf8InJson) {
  EXPECT_EQ(dumpJson(nlohmann::json("a\xff")), "\"a\xef\xbf\xbd\"\n");
}

TEST(Table, CutsTextsAtTheEndOrInside) {
  EXPECT_EQ(cutTo("größer", 6), "größer");
  EXPECT_EQ(cutTo("größer", 4), "grö…");
  EXPECT_EQ(cutInside("größer", 6), "größer");
  EXPECT_EQ(cutInside("größere", 6), "grö…re");
  EXPECT_EQ(cutInside("äöüß", 2), "ä…");
  EXPECT_EQ(cutInside("void at::kernel<float, 4>", 12), "void a…t, 4>");
}

TEST(Human, Durations) {
  EXPECT_EQ(humanDuration(999), "999 ns");
  EXPECT_EQ(humanDuration(1000), "1 µs");
  EXPECT_EQ(humanDuration(999'499), "999 µs");
  EXPECT_EQ(humanDuration(999'500), "1 ms");
  EXPECT_EQ(humanDuration(12'345'678), "12.3 ms");
  EXPECT_EQ(humanDuration(61'000'000'000), "61 s");
  EXPECT_EQ(humanDuration(3'725'000'000'000), "1:02:05");
}

TEST(Human, BytesAndCounts) {
  EXPECT_EQ(humanBytes(1023), "1023 B");
  EXPECT_EQ(humanBytes(1024), "1.0 KiB");
  EXPECT_EQ(humanBytes(25 * 1024 * 1024), "25.0 MiB");
  EXPECT_EQ(humanBytes(1024 * 1024 - 1), "1.0 MiB");
  EXPECT_EQ(humanCount(0), "0");
  EXPECT_EQ(humanCount(-1234567), "-1,234,567");
  EXPECT_EQ(humanCount(123), "123");
}

}  // namespace
}  // namespace sonde::cli
