#include "analysis/ingest/chakra/chakra_importer.h"

#include "tests/ingest/import/damaged_files.h"
#include "tests/ingest/import/import_fixture.h"
#include "tests/support/chakra_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <string>
#include <vector>

namespace sonde::ingest {
namespace {

using test::chakraHead;
using test::ChakraMessage;
using test::chakraRun;
using test::kChakraColl;
using test::kChakraComp;
using test::kChakraMemLoad;
using test::kChakraRecv;
using test::kChakraSend;
using test::numberField;
using test::textField;
using test::varint;
using ::testing::Contains;
using ::testing::HasSubstr;

class ChakraImporterTest : public ImportTest {
 protected:
  Result<void> import(const std::string& bytes, const std::string& name = "run.3.et") {
    test::writeText(folder_ / name, bytes);
    return importFiles({folder_ / name});
  }
  void mustImport(const std::string& bytes) {
    const auto imported = import(bytes);
    ASSERT_TRUE(imported) << imported.error().message;
  }
  void mustRefuse(const std::string& bytes, const std::string& why) {
    SCOPED_TRACE(why);
    const auto imported = import(bytes);
    ASSERT_FALSE(imported);
    EXPECT_EQ(imported.error().code, ErrorCode::Corrupt);
    EXPECT_THAT(imported.error().message, HasSubstr(why));
    EXPECT_THAT(imported.error().message, HasSubstr("run.3.et'"));
  }
};

// An ordinary node of the host.
std::string goodNode(std::uint64_t id = 9) {
  return ChakraMessage(id, "good", kChakraComp).time(5, 1).flag("is_cpu_op", true).bytes();
}

TEST_F(ChakraImporterTest, NodesAreSlicesKernelsAndCollectives) {
  mustImport(chakraRun());
  EXPECT_EQ(
      rows("SELECT n.text || '|' || kind || '|' || s.start_ns || '|' || dur_ns || '|' || depth "
           "|| '|' || t.tid AS concat_row FROM slice s JOIN string n ON n.id = name_id JOIN "
           "thread t ON t.id = s.thread_id ORDER BY s.start_ns"),
      "ProfilerStep#0|iteration|1700000000000000000|900000|0|5 "
      "aten::mm|operator|1700000000000010000|100000|1|5 "
      "ProfilerStep#1|iteration|1700000000001000000|900000|0|5 "
      "aten::mm|operator|1700000000001010000|100000|1|5");
  EXPECT_EQ(rows("SELECT n.text || '|' || r.number || '|' || start_ns || '|' || dur_ns || '|' || "
                 "bytes AS concat_row FROM kernel k JOIN string n ON n.id = name_id JOIN stream r "
                 "ON r.id = stream_id ORDER BY start_ns"),
            "gemm|7|1700000000000050000|200000|4096 "
            "ncclDevKernel_AllReduce_Sum|20|1700000000000300000|400000|1048576 "
            "gemm|7|1700000000001050000|200000|4096 "
            "ncclDevKernel_AllReduce_Sum|20|1700000000001300000|400000|1048576");
  EXPECT_EQ(rows("SELECT op || '|' || c.seq || '|' || bytes || '|' || m.job_key || '|' || "
                 "(kernel_id IS NOT NULL) AS concat_row FROM collective c JOIN communicator m ON "
                 "m.id = c.communicator_id ORDER BY c.start_ns"),
            "allreduce|0|1048576|dp|1 allreduce|1|1048576|dp|1");
  EXPECT_EQ(rows("SELECT number || '|' || dur_ns AS concat_row FROM iteration"),
            "0|900000 1|900000");
  EXPECT_EQ(rows("SELECT rank || '' AS concat_row FROM process"), "3");
  EXPECT_EQ(summary_.dropped.at("not kept"), 1U);
  EXPECT_EQ(summary_.read.at("COMM_COLL"), 2U);
}

TEST_F(ChakraImporterTest, DependenciesAreLinksWhereverTheNodeStands) {
  mustImport(chakraHead() +
             ChakraMessage(2, "late", kChakraComp)
                 .time(20, 5)
                 .deps(4, {1, 77})
                 .raw(numberField(5, 1) + numberField(5, 2))  // one by one, as proto2 writes them
                 .flag("is_cpu_op", true)
                 .bytes() +
             ChakraMessage(1, "early", kChakraComp).time(10, 5).flag("is_cpu_op", true).bytes() +
             ChakraMessage(1, "again", kChakraComp).time(40, 5).flag("is_cpu_op", true).bytes() +
             ChakraMessage(3, "device", kChakraComp)
                 .time(30, 5)
                 .deps(5, {2})
                 .flag("is_cpu_op", false)
                 .bytes());
  EXPECT_EQ(rows("SELECT l.kind || '|' || from_owner || '|' || f.text || '|' || to_owner AS "
                 "concat_row FROM link l JOIN slice s ON s.id = l.from_id JOIN string f ON f.id = "
                 "s.name_id ORDER BY l.rowid"),
            "control-dependency|slice|early|slice data-dependency|slice|early|slice "
            "data-dependency|slice|late|kernel");
  EXPECT_THAT(summary_.warnings, Contains(HasSubstr("1 dependencies refer to nodes that are not")));
  EXPECT_THAT(summary_.warnings, Contains(HasSubstr("1 dependencies refer to their own node")));
  EXPECT_THAT(summary_.warnings, Contains(HasSubstr("1 nodes have the id of another")));
}

TEST_F(ChakraImporterTest, WorkIsInTheScopeOfTheHostsNodeItDependsOn) {
  const auto host =
      [](std::uint64_t id, const char* name, std::uint64_t start, std::uint64_t duration) {
        return ChakraMessage(id, name, kChakraComp)
            .time(start, duration)
            .flag("is_cpu_op", true)
            .bytes();
      };
  const auto device = [](std::uint64_t id, const char* name, std::vector<std::uint64_t> on) {
    return ChakraMessage(id, name, kChakraComp)
        .time(100 * id, 5)
        .deps(4, on)
        .flag("is_cpu_op", false)
        .bytes();
  };
  mustImport(chakraHead() + host(1, "aten::mm", 10, 50) + host(2, "cudaLaunchKernel", 20, 5) +
             host(3, "step", 70, 20) + device(4, "launched", {1, 2}) + device(5, "of step", {3}) +
             device(6, "of nothing", {4}) + device(7, "Memcpy HtoD", {3}));
  EXPECT_EQ(
      rows("SELECT n.text || '|' || coalesce(sn.text, '-') || '|' || coalesce(ln.text, '-') AS "
           "concat_row FROM (SELECT name_id, scope_id, launch_slice_id, start_ns FROM kernel "
           "UNION ALL SELECT name_id, scope_id, launch_slice_id, start_ns FROM copy) k JOIN "
           "string n ON n.id = k.name_id LEFT JOIN slice s ON s.id = k.scope_id LEFT JOIN "
           "string sn ON sn.id = s.name_id LEFT JOIN slice l ON l.id = k.launch_slice_id LEFT "
           "JOIN string ln ON ln.id = l.name_id ORDER BY k.start_ns"),
      "launched|aten::mm|cudaLaunchKernel of step|step|- of nothing|-|- Memcpy HtoD|step|-");
}

TEST_F(ChakraImporterTest, SendsReceivesAndCopies) {
  mustImport(chakraHead() +
             ChakraMessage(1, "s", kChakraSend)
                 .time(10, 5)
                 .integer("comm_size", 8)
                 .integer("comm_dst", 4)
                 .bytes() +
             ChakraMessage(2, "r", kChakraRecv)
                 .time(20, 5)
                 .integer("comm_size", 16)
                 .integer("comm_src", 2)
                 .bytes() +
             ChakraMessage(3, "Memcpy HtoD (Pinned -> Device)", kChakraComp)
                 .time(30, 5)
                 .integer("stream", 7)
                 .bytes() +
             ChakraMessage(4, "weights", kChakraMemLoad).time(40, 5).integer("stream", 7).bytes() +
             ChakraMessage(5, "c", kChakraColl).time(50, 5).integer("comm_type", 99).bytes());
  EXPECT_EQ(
      rows("SELECT op || '|' || coalesce(send_bytes, '-') || '|' || coalesce(recv_bytes, '-') "
           "|| '|' || peer || '|' || (slice_id IS NOT NULL) AS concat_row FROM collective "
           "ORDER BY start_ns"),
      "send|8|-|4|1 receive|-|16|2|1");
  EXPECT_EQ(rows("SELECT DISTINCT kind AS concat_row FROM slice"), "collective");
  EXPECT_EQ(rows("SELECT kind || '' AS concat_row FROM copy ORDER BY start_ns"),
            "host_to_device other");
  EXPECT_EQ(summary_.dropped.at("unreadable value"), 1U);
}

TEST_F(ChakraImporterTest, AttributesOfAllTypesAreKept) {
  const std::string doubleHalf("\x19\0\0\0\0\0\0\xe0\x3f", 9);
  mustImport(chakraHead() + ChakraMessage(1, "n\xff", kChakraComp)
                                .time(10, 5)
                                .raw(textField(8, textField(1, "[1]") + textField(2, "[[2,3]]")))
                                .attr("d", doubleHalf)
                                .attr("big", numberField(13, 18446744073709551615U))
                                .attr("zigzag", numberField(17, 3))
                                .attr("list", textField(10, numberField(1, 1)))
                                .attr("tid", numberField(13, 18446744073709551615U))
                                .text("op_schema", "aten::mm(Tensor)")
                                .bytes());
  EXPECT_EQ(rows("SELECT json_extract(value, '$.d') || '|' || (value LIKE "
                 "'%\"big\":18446744073709551615%') || '|' || json_extract(value, '$.zigzag') || "
                 "'|' || json_extract(value, '$.op_schema') || '|' || json_extract(value, "
                 "'$.inputs.shapes') || '|' || json_extract(value, '$.id') AS concat_row FROM arg"),
            "0.5|1|-2|aten::mm(Tensor)|[[2,3]]|1");
  EXPECT_EQ(rows("SELECT name AS concat_row FROM thread"), "host");
}

TEST_F(ChakraImporterTest, GzipIsReadByItsContentWhateverItsName) {
  const std::string path = folder_ / "trace.bin";
  gzFile file = gzopen(path.c_str(), "wb");
  const std::string bytes = chakraRun();
  ASSERT_EQ(gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())),
            static_cast<int>(bytes.size()));
  gzclose(file);
  ASSERT_TRUE(importFiles({path}));
  EXPECT_EQ(rows("SELECT count(*) AS concat_row FROM kernel"), "4");
  EXPECT_EQ(rows("SELECT count(rank) AS concat_row FROM process"), "0");
}

TEST_F(ChakraImporterTest, RanksComeFromTheNamesOfFiles) {
  EXPECT_EQ(chakraRankOf("a/chakra.12.et"), 12);
  EXPECT_EQ(chakraRankOf("chakra.0.et.gz"), 0);
  for (const char* name :
       {"chakra.et", "chakra.x.et", "chakra.1.json", "3.et", "c.1x.et", "c.-1.et"})
    EXPECT_EQ(chakraRankOf(name), std::nullopt) << name;
}

TEST_F(ChakraImporterTest, TheGoodPartOfADamagedFileIsKept) {
  const std::vector<std::pair<std::string, std::string>> bad = {
      {ChakraMessage().raw(textField(6, "late")).bytes(), "which has a field of another type"},
      {ChakraMessage().raw(textField(10, textField(27, "x"))).bytes(), "of another type"},
      {ChakraMessage().raw(textField(8, numberField(2, 1))).bytes(), "of another type"},
      {ChakraMessage().raw("\x0a\x7f").bytes(), "which does not match the format"},
      {ChakraMessage().raw("\xff\xff\xff").bytes(), "which does not match the format"}};
  for (const auto& [message, why] : bad) {
    SCOPED_TRACE(why);
    mustImport(chakraHead() + goodNode() + message + goodNode(10));
    EXPECT_EQ(rows("SELECT count(*) AS concat_row FROM slice"), "2");
    EXPECT_EQ(rows("SELECT reason || '|' || count AS concat_row FROM loss"), "unreadable|1");
    EXPECT_THAT(summary_.warnings,
                Contains(HasSubstr("the first is the message at byte " +
                                   std::to_string(chakraHead().size() + goodNode().size()))));
    EXPECT_THAT(summary_.warnings, Contains(HasSubstr(why)));
  }
}

TEST_F(ChakraImporterTest, TimesThatDoNotFitAreCounted) {
  constexpr std::uint64_t kHuge = 9'300'000'000'000'000;
  mustImport(
      chakraHead() + goodNode() + ChakraMessage(1, "x", kChakraComp).time(kHuge, 1).bytes() +
      ChakraMessage(2, "y", kChakraComp).time(1, ~0ULL).bytes() +
      ChakraMessage(3, "z", kChakraComp).time(kHuge - 100'000'000'000'000, kHuge / 2).bytes());
  EXPECT_EQ(rows("SELECT count(*) AS concat_row FROM slice"), "1");
  EXPECT_EQ(rows("SELECT reason || '|' || count AS concat_row FROM loss"), "no time|3");
}

TEST_F(ChakraImporterTest, AFileThatCannotBeReadOnIsKeptUpToThere) {
  const std::string good = chakraHead() + goodNode();
  const std::string place = "the message at byte " + std::to_string(good.size());
  for (const auto& [tail, why] :
       {std::pair(goodNode().substr(0, 8), "is cut off after 7 of its"),
        std::pair(std::string("\x80"), "is cut off in its length"),
        std::pair(std::string(11, '\xff'), "has a length of more than ten bytes"),
        std::pair(varint(1ULL << 62), "claims to have 4611686018427387904 bytes")}) {
    SCOPED_TRACE(why);
    mustImport(good + tail);
    EXPECT_EQ(rows("SELECT count(*) AS concat_row FROM slice"), "1");
    EXPECT_THAT(summary_.warnings, Contains(HasSubstr(place + " " + why)));
  }
}

TEST_F(ChakraImporterTest, AFileOutOfWhichNothingComesIsRefused) {
  mustRefuse("", "is empty: was it copied whole?");
  mustRefuse(chakraHead(), "no node has times");
  mustRefuse(chakraHead().substr(0, 5), "the message at byte 0 is cut off after 4 of its 7 bytes");
  mustRefuse(std::string(40, '\xff'), "the message at byte 0 has a length");
  mustRefuse(chakraHead() + varint(3) + "abc", "none of its 1 nodes can be read");
  mustRefuse("hello world, this is a text", "of its 104 bytes");
  const std::string untimed = chakraHead() + ChakraMessage(1, "a", kChakraComp).time(0, 5).bytes() +
                              ChakraMessage(2, "b", kChakraComp).time(0, 7).bytes();
  const auto imported = import(untimed);
  ASSERT_FALSE(imported);
  EXPECT_THAT(imported.error().message, HasSubstr("its nodes have no start times"));
}

TEST_F(ChakraImporterTest, DamagedFilesAreImportedInPartOrRefused) {
  std::string whole = chakraRun();
  for (std::uint64_t id = 100; id < 140; ++id)
    whole += goodNode(id);
  const std::string damaged = folder_ / "damaged.et";
  const test::DamageCount count =
      test::importDamaged(whole, damaged, 3000, [&](store::TraceWriter& writer) -> Result<void> {
        auto source = ByteSource::open(damaged);
        if (!source)
          return source.error();
        auto imported =
            ChakraImporter(writer, folder_.path(), "host", 0, {}).import(*std::move(source));
        return imported ? Result<void>() : std::move(imported).error();
      });
  EXPECT_GT(count.whole, 2000);
  EXPECT_GT(count.refused, 10);
}

}  // namespace
}  // namespace sonde::ingest
