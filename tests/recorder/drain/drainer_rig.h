// Each test has its own session folder, a trace next to it, and a drainer between them.
#pragma once

#include "analysis/store/trace_file.h"
#include "recorder/drain/drainer.h"
#include "tests/support/ingest_rig.h"
#include "tests/support/run_program.h"
#include "tests/support/spool_builder.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace sonde::recorder {

constexpr std::uint64_t kManyCalls = 400'000;  // 12 MiB of spool, 25 MiB of trace

// A process that has made them; it has ended unless `pid` is that of a running one.
inline test::SpoolBuilder manyCalls(std::int32_t pid = 1 << 22) {
  test::SpoolBuilder spool(pid);
  for (std::uint64_t at = 0; at < kManyCalls; ++at)
    spool.call(0, wire::SliceKind::Api, "a", 1000 + 10 * at, 1005 + 10 * at);
  return spool;
}

class DrainerTest : public testing::Test {
 protected:
  DrainerTest() {
    std::filesystem::create_directories(session());
    std::ofstream(session() / "session") << std::string(4096, '\0');
  }
  std::filesystem::path session() const { return folder_.path() / "1-abc"; }
  std::filesystem::path part() const { return folder_.path() / "out.sonde.part"; }
  std::filesystem::path output() const { return folder_.path() / "out.sonde"; }

  std::unique_ptr<Drainer> open(bool keepSpool = false) {
    DrainerOptions options;
    options.folder = session();
    options.part = part();
    options.job = "job";
    options.hostName = "node7";
    options.keepSpool = keepSpool;
    auto drainer = Drainer::open(std::move(options));
    EXPECT_TRUE(drainer) << drainer.error().message;
    return *std::move(drainer);
  }
  DrainTotals finish(std::unique_ptr<Drainer> drainer) {
    auto totals = drainer->finish(output());
    EXPECT_TRUE(totals) << totals.error().message;
    return totals ? *totals : DrainTotals{};
  }
  std::vector<std::string> rows(const std::string& sql) {
    auto trace = store::openTrace(std::filesystem::exists(output()) ? output() : part());
    EXPECT_TRUE(trace) << trace.error().message;
    return test::readRows(*trace, sql);
  }

  test::TemporaryFolder folder_;
};

}  // namespace sonde::recorder
