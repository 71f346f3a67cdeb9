// The verbs with `sonde import`'s traces of other profilers' files.
#include "tests/cli/verbs_fixture.h"
#include "tests/support/chakra_trace.h"
#include "tests/support/nsight_export.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <map>

namespace sonde::cli {
namespace {

using nlohmann::json;
using test::Finished;
using test::NsightExport;
using test::readText;
using ::testing::HasSubstr;
using ::testing::Not;

class Imports : public Verbs {
 protected:
  std::string import(const std::vector<std::string>& files) {
    std::vector<std::string> words = {"import", "-f", "-o", folder_ / "imported.sonde"};
    words.insert(words.end(), files.begin(), files.end());
    const Finished finished = sonde(words);
    EXPECT_EQ(finished.status, 0) << finished.err;
    return folder_ / "imported.sonde";
  }
  std::string nsight(int rank) {
    const std::string path = folder_ / fmt::format("report{}.sqlite", rank);
    NsightExport(path).fill().run(fmt::format("INSERT INTO MPI_RANKS VALUES ($TID, {})", rank));
    return path;
  }
  // Three steps of torch.profiler with device work in each, and a synchronisation of the whole
  // device, which has no stream.
  std::string torch(int rank) const {
    json events = json::array();
    const auto add = [&](const char* category, const std::string& name, int at, json args) {
      const int length = category == std::string("user_annotation") ? 90 : 5;
      events.push_back({{"ph", "X"},
                        {"cat", category},
                        {"name", name},
                        {"pid", 100},
                        {"tid", 101},
                        {"ts", at},
                        {"dur", length},
                        {"args", std::move(args)}});
    };
    for (int step = 0; step < 3; ++step) {
      const int at = 100 * step;
      const json device = {{"device", 0}, {"stream", 7}, {"correlation", step}, {"bytes", 64}};
      add("user_annotation", fmt::format("ProfilerStep#{}", step), at, json::object());
      add("cuda_runtime", "cudaLaunchKernel", at + 10, {{"correlation", step}});
      add("kernel", "gemm", at + 20, device);
      add("kernel", "ncclDevKernel_AllReduce", at + 30, device);
      add("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", at + 40, device);
      add("cuda_sync", "Stream Sync", at + 50, device);
      add("cuda_sync", "Context Sync", at + 60, {{"device", 0}, {"stream", -1}});
      events.push_back({{"ph", "C"},
                        {"cat", "memory"},
                        {"name", "allocated"},
                        {"pid", 100},
                        {"ts", at + 5},
                        {"args", {{"bytes", step}}}});
    }
    const std::string path = folder_ / fmt::format("rank{}.json", rank);
    const json file = {{"traceEvents", std::move(events)},
                       {"distributedInfo", {{"rank", rank}, {"world_size", 2}}}};
    test::writeText(path, file.dump());
    return path;
  }
  std::string number(const std::string& trace, const std::string& expression) {
    const Finished finished =
        sonde({"sql", trace, "SELECT " + expression + " AS x", "--format", "csv"});
    EXPECT_EQ(finished.status, 0) << finished.err;
    const std::size_t begin = finished.out.find('\n') + 1;
    return finished.out.substr(begin, finished.out.find('\r', begin) - begin);
  }
  std::string count(const std::string& trace, const std::string& table) {
    return number(trace, "count(*) AS x FROM " + table + " --");
  }
  // Cuts iteration 1 out of a trace of several.
  std::string trimmed(const std::string& trace) {
    const std::string out = folder_ / "trimmed.sonde";
    const Finished finished = sonde({"trim", trace, "-f", "-o", out, "--iterations", "1-1"});
    EXPECT_EQ(finished.status, 0) << finished.err;
    EXPECT_EQ(sonde({"sql", out, "SELECT * FROM pragma_foreign_key_check()"}).out,
              sonde({"sql", trace, "SELECT * FROM pragma_foreign_key_check()"}).out);
    EXPECT_EQ(sonde({"report", out}).status, 0);
    return out;
  }
};

TEST_F(Imports, ATorchProfileIsTrimmedInAllItsTables) {
  const std::string trace = import({torch(0), torch(1)});
  const std::string out = trimmed(trace);
  for (const auto& [table, of] : {std::pair("iteration", 1),
                                  std::pair("slice", 2),
                                  std::pair("kernel", 2),
                                  std::pair("copy", 1),
                                  std::pair("sync", 2),
                                  std::pair("collective", 1),
                                  std::pair("sample", 1)}) {
    SCOPED_TRACE(table);
    EXPECT_EQ(count(trace, table), std::to_string(2 * 3 * of));
    EXPECT_EQ(count(out, table), std::to_string(2 * of));
  }
  EXPECT_EQ(number(out, "min(start_ns) || ' ' || max(start_ns) FROM sync --"), "150000 160000");
  EXPECT_EQ(count(out, "kernel k JOIN slice s ON s.id = k.launch_slice_id"), "4");
  EXPECT_EQ(count(out, "arg WHERE owner = 'kernel'"), "4");
}

TEST_F(Imports, UsersNameKernelsThatCommunicate) {
  // Each of three steps has 5 µs of gemm and 5 µs of NCCL.
  const std::string trace = import({torch(0)});
  const auto communication = [&](const std::string& of, std::vector<std::string> options) {
    std::vector<std::string> words = {"report", of, "--format", "json"};
    words.insert(words.end(), options.begin(), options.end());
    return jsonOf(sonde(words))["ranks"][0]["comm_ns"].get<int>();
  };
  EXPECT_EQ(communication(trace, {}), 15'000);
  EXPECT_EQ(communication(trace, {"--communication", "x", "--communication", "GE?M"}), 30'000);
  EXPECT_EQ(communication(trace, {"--communication", "em*"}), 15'000);
  const std::string config = folder_ / "sonde.toml";
  test::writeText(config, "[rules]\nstep-outlier = 'off'\n[communication]\nkernels = ['*emm']\n");
  EXPECT_EQ(communication(trace, {"--config", config}), 30'000);
  EXPECT_EQ(sonde({"check", trace, "--rules", config}).status, 0);
  const std::string kept = folder_ / "kept.sonde";
  ASSERT_EQ(sonde({"import", "-o", kept, torch(0), "--config", config}).status, 0);
  EXPECT_EQ(communication(kept, {}), 30'000);
  EXPECT_THAT(sonde({"breakdown", kept}).out, Not(HasSubstr("compute")));
}

TEST_F(Imports, AnyRulesFileNamesKernelsThatCommunicate) {
  const std::string trace = import({torch(0)});
  const std::string rules = folder_ / "rules.toml";
  const std::string without =
      "[rules]\ncommunication-bound = 'warning'\n[stop]\ngrace_s = 1\n[sql.own]\nquery = 'SELECT "
      "1'\n[[suppress]]\nrule = 'own'\nreason = 'known'\nuntil = 2099-01-31\n";
  const std::string with = without + "[communication]\nkernels = ['gemm']\n";
  const auto share = [&](const std::string& text) {
    test::writeText(rules, text);
    const json report = jsonOf(sonde({"check", trace, "--rules", rules, "--format", "json"}));
    for (const json& result : report["results"])
      if (result["rule"] == "communication-bound" && result["value"].is_number())
        return result["value"].get<double>();
    return 0.0;
  };
  const double few = share(without);
  EXPECT_LT(few, 0.8 * share(with));
  EXPECT_EQ(sonde({"report", trace, "--config", rules}).status, 0);
}

TEST_F(Imports, WhatIsWrongWithPatternsIsSaidWithItsPlace) {
  const std::string trace = import({torch(0)});
  const std::string config = folder_ / "sonde.toml";
  for (const auto& [text, message] :
       {std::pair("[communication]\nkernels = 'x'\n", ":2:11: 'kernels'"),
        std::pair("[communication]\nkernel = ['x']\n", ":2:1: unknown"),
        std::pair("[kernels]\n", "unknown table 'kernels'"),
        std::pair("[rules]\n", "no table [communication]")}) {
    test::writeText(config, text);
    const Finished finished = sonde({"breakdown", trace, "--config", config});
    EXPECT_EQ(finished.status, 2) << text;
    EXPECT_THAT(finished.err, HasSubstr(message));
  }
  EXPECT_EQ(sonde({"report", trace, "--config", folder_ / "none.toml"}).status, 2);
  EXPECT_EQ(sonde({"diff", trace, trace, "--communication", ""}).status, 2);
  const Finished refused =
      sonde({"import", "-o", folder_ / "new.sonde", torch(0), "--communication", ""});
  EXPECT_EQ(refused.status, 2);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "new.sonde"));
}

TEST_F(Imports, RanksOfATorchProfileAreMembersOfTheirGroups) {
  std::vector<std::string> files;
  for (int rank = 0; rank < 2; ++rank) {
    json file = json::parse(readText(torch(rank)));
    file["distributedInfo"]["pg_config"] = {{{"pg_name", "0"}, {"pg_size", 2}, {"ranks", {1, 0}}}};
    for (json& event : file["traceEvents"])
      if (event["name"] == "ncclDevKernel_AllReduce")
        event["args"].update({{"Process Group Name", "0"}, {"Process Group Ranks", "[1, ...]"}});
    files.push_back(folder_ / fmt::format("group{}.json", rank));
    test::writeText(files.back(), file.dump());
  }
  const std::string trace = import(files);
  EXPECT_EQ(count(trace, "communicator"), "2");
  EXPECT_EQ(count(trace,
                  "communicator_member m JOIN process p ON p.id = m.process_id AND p.rank = m.rank "
                  "AND p.rank = 1 - m.position"),
            "4");
}

TEST_F(Imports, AnNsightExportGoesThroughEveryVerb) {
  const std::string trace = import({nsight(0), nsight(1)});
  const json report = jsonOf(sonde({"report", trace, "--format", "json"}));
  ASSERT_EQ(report["ranks"].size(), 2U);
  EXPECT_EQ(report["iterations"].size(), 4U);
  EXPECT_EQ(report["ranks"][1]["comm_ns"], 400);
  EXPECT_EQ(report["ranks"][1]["compute_ns"], 100);
  const json kernels =
      jsonOf(sonde({"stats", trace, "cuda_gpu_kern_sum", "--format", "json"}))["tables"];
  EXPECT_EQ(kernels["cuda_gpu_kern_sum"][0]["Total Time (ns)"], 800);
  const std::string all = sonde({"stats", trace}).out;
  for (const char* table : {"cuda_api_sum",
                            "cuda_gpu_mem_time_sum",
                            "cuda_kern_exec_sum",
                            "nvtx_kern_sum",
                            "nvtx_gpu_proj_sum",
                            "osrt_sum"})
    EXPECT_THAT(all, HasSubstr(fmt::format("({})", table)));
  const std::string out = trimmed(trace);
  EXPECT_EQ(count(out, "iteration"), "2");
  EXPECT_EQ(count(out, "kernel"), "4");
  for (const char* format : {"perfetto", "csv", "folded"})
    EXPECT_EQ(sonde({"export", trace, "--to", format, "-o", folder_ / format}).status, 0) << format;
}

TEST_F(Imports, AnExportedNsightTraceIsTheSameWhenItIsImportedAgain) {
  const std::string trace = import({nsight(0)});
  const std::string exported = folder_ / "again.json";
  const std::vector<std::string> selects = {
      "SELECT name, start_ns, dur_ns, stream, device, scope, correlation_id, registers, "
      "static_shared_bytes, dynamic_shared_bytes, local_bytes FROM v_kernel ORDER BY start_ns",
      "SELECT c.start_ns, c.kind, c.bytes, pinned FROM copy c ORDER BY start_ns",
      "SELECT kind, ordinal, name, memory_bytes, uuid FROM device",
      "SELECT op, seq, start_ns, dur_ns FROM collective WHERE kernel_id IS NOT NULL ORDER BY "
      "start_ns"};
  const auto read = [&](const std::string& from) {
    std::vector<std::string> tables;
    for (const std::string& select : selects)
      tables.push_back(sonde({"sql", from, select, "--format", "csv"}).out);
    return tables;
  };
  const std::vector<std::string> before = read(trace);
  EXPECT_THAT(before[0], HasSubstr("ncclDevKernel_AllReduce"));
  EXPECT_THAT(before[0], HasSubstr(",1024,64,8"));
  EXPECT_THAT(before[1], HasSubstr("host_to_device,4096,1"));
  EXPECT_THAT(before[2], HasSubstr("gpu,3,H100"));
  ASSERT_EQ(sonde({"export", trace, "--to", "chrome", "-o", exported}).status, 0);
  EXPECT_EQ(read(import({exported})), before);
}

TEST_F(Imports, NsightExportsOfTwoNodesAreMerged) {
  const std::string first = folder_ / "first.sonde";
  std::filesystem::rename(import({nsight(0)}), first);
  const std::string second = import({nsight(1)});
  const Finished merged = sonde({"merge", "-o", folder_ / "job.sonde", first, second});
  ASSERT_EQ(merged.status, 0) << merged.err;
  EXPECT_EQ(count(folder_ / "job.sonde", "kernel"), "8");
  EXPECT_EQ(number(folder_ / "job.sonde", "count(*) * 10 + max(rank) FROM process --"), "21");
}

TEST_F(Imports, ChakraTracesGoThroughEveryVerb) {
  std::vector<std::string> files;
  for (int rank = 0; rank < 2; ++rank) {
    files.push_back(folder_ / fmt::format("run.{}.et", rank));
    test::writeText(files.back(), test::chakraRun());
  }
  const std::string trace = import(files);
  const json report = jsonOf(sonde({"report", trace, "--format", "json"}));
  ASSERT_EQ(report["ranks"].size(), 2U);
  EXPECT_EQ(report["ranks"][1]["comm_ns"], 800'000);
  EXPECT_EQ(report["ranks"][1]["compute_ns"], 400'000);
  EXPECT_THAT(sonde({"stats", trace}).out, HasSubstr("(cuda_gpu_kern_sum)"));
  const std::string out = trimmed(trace);
  for (const auto& [table, all] : {std::pair("iteration", 4),
                                   std::pair("slice", 8),
                                   std::pair("kernel", 8),
                                   std::pair("collective", 4),
                                   std::pair("link", 12)}) {
    SCOPED_TRACE(table);
    EXPECT_EQ(count(trace, table), std::to_string(all));
    EXPECT_EQ(count(out, table), std::to_string(all / 2));
  }
  for (const char* format : {"perfetto", "csv", "folded", "chrome"})
    EXPECT_EQ(sonde({"export", trace, "--to", format, "-o", folder_ / format}).status, 0) << format;
  std::map<std::string, std::string> counts;
  for (const char* table : {"slice",
                            "kernel",
                            "iteration",
                            "thread",
                            "collective",
                            "link WHERE from_owner = 'slice' AND to_owner = 'slice'"})
    counts[table] = count(trace, table);
  const std::string again = import({folder_ / "chrome"});
  for (const auto& [table, before] : counts)
    EXPECT_EQ(count(again, table), before) << table;
  const std::string other = folder_ / "run.2.et";
  test::writeText(other, test::chakraRun());
  std::filesystem::rename(again, folder_ / "first.sonde");
  EXPECT_EQ(sonde({"merge", "-o", folder_ / "job.sonde", folder_ / "first.sonde", import({other})})
                .status,
            0);
}

TEST_F(Imports, ReportsWhatDevicesDidWithoutTheirHost) {
  const std::string path = folder_ / "device.json";
  test::writeText(path, R"json({"traceEvents":[
    {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":100,"dur":50,"args":{"stream":7}},
    {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":200,"dur":30,"args":{"stream":7}},
    {"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Pageable -> Device)","pid":0,"tid":7,
     "ts":160,"dur":10,"args":{"stream":7}}]})json");
  const std::string trace = import({path});
  const json report = jsonOf(sonde({"report", trace, "--format", "json"}));
  ASSERT_EQ(report["ranks"].size(), 1U);
  EXPECT_EQ(report["ranks"][0]["window_ns"], 130'000);
  EXPECT_EQ(report["ranks"][0]["compute_ns"], 80'000);
  EXPECT_EQ(report["ranks"][0]["copy_ns"], 10'000);
  EXPECT_THAT(sonde({"report", trace}).out, HasSubstr("130 µs"));
}

TEST_F(Imports, SaysThatMergedFilesAreFarApart) {
  std::vector<std::string> traces;
  for (const char* const at : {"0", "30000000", "900000000"}) {
    const std::string path = folder_ / (std::string("at") + at + ".json");
    test::writeText(
        path,
        fmt::format(R"([{{"ph":"X","cat":"cpu_op","name":"mm","pid":9,"tid":9,"ts":{0},"dur":50}},)"
                    R"({{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":{0},"dur":50,)"
                    R"("args":{{"stream":7}}}}])",
                    at));
    traces.push_back(folder_ / (std::string(at) + ".sonde"));
    EXPECT_EQ(sonde({"import", "-o", traces.back(), path}).status, 0);
  }
  const Finished near = sonde({"merge", "-o", folder_ / "near.sonde", traces[0], traces[1]});
  EXPECT_EQ(near.status, 0);
  EXPECT_EQ(near.err, "");
  EXPECT_THAT(near.out, HasSubstr("2 slices, 2 kernels, 0 copies"));
  const Finished far = sonde({"merge", "-o", folder_ / "far.sonde", traces[0], traces[2]});
  EXPECT_EQ(far.status, 0);
  EXPECT_THAT(far.err,
              HasSubstr("are 900.0 s apart: they belong to different runs, or their clocks"));
  EXPECT_THAT(sonde({"report", traces[0], traces[2]}).err, HasSubstr("are 900.0 s apart"));
}

TEST_F(Imports, TheProfilersOwnSpanIsNoOperation) {
  const std::string path = folder_ / "torch.json";
  test::writeText(path, R"json({"traceEvents":[
    {"ph":"X","cat":"Trace","name":"PyTorch Profiler (0)","pid":"Spans","tid":"PyTorch Profiler",
     "ts":0,"dur":1000},
    {"ph":"X","cat":"user_annotation","name":"PyTorch Profiler (mine)","pid":9,"tid":9,"ts":100,
     "dur":300}]})json");
  const json report = jsonOf(sonde({"report", import({path}), "--format", "json"}));
  ASSERT_EQ(report["operations"].size(), 1U);
  EXPECT_EQ(report["operations"][0]["name"], "PyTorch Profiler (mine)");
}

TEST_F(Imports, WhatWasMissingIsSaidOnStderr) {
  const std::string path = folder_ / "report.sqlite";
  NsightExport(path).fill().run("DROP TABLE OSRT_API");
  const Finished finished = sonde({"import", "-o", folder_ / "o.sonde", path});
  EXPECT_EQ(finished.status, 0);
  EXPECT_THAT(finished.err, HasSubstr("the export has no system calls (OSRT_API)"));
  EXPECT_THAT(finished.err, Not(HasSubstr("StringIds")));
}

}  // namespace
}  // namespace sonde::cli
