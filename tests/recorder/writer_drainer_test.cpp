// The writers of a process and the recorder's drainer, ingest and store in one program, at full
// speed on the same spool. The records in the trace and those counted as lost are together exactly
// the emitted ones. This is the test to run under ThreadSanitizer.
#include "analysis/store/trace_file.h"
#include "collector/core/attach.h"
#include "collector/core/emit.h"
#include "recorder/drain/drainer.h"
#include "tests/support/in_child.h"
#include "tests/support/run_program.h"
#include "tests/support/spool_folder.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace sonde::recorder {
namespace {

namespace fs = std::filesystem;

constexpr int kWriters = 4;
constexpr std::uint64_t kScopesEach = 30'000;  // recorded by each writer

struct Emitted {
  std::atomic<std::uint64_t> recorded{0};
  std::atomic<std::uint64_t> lost{0};
};

// Emits scopes two deep, until enough of them have been recorded.
void write(Emitted& emitted) {
  const std::uint32_t outer = core::intern("outer");
  const std::uint32_t inner = core::intern("inner");
  std::uint64_t recorded = 0;
  std::uint64_t lost = 0;
  const auto begin = [&](std::uint32_t name) {
    const std::uint32_t token =
        core::beginScope(wire::SliceKind::Operation, name, wire::Probe::Annotation);
    ++(token != 0 ? recorded : lost);
    return token;
  };
  while (recorded < kScopesEach) {
    const std::uint32_t outside = begin(outer);
    const std::uint32_t inside = begin(inner);
    core::endScope(inside);
    core::endScope(outside);
  }
  emitted.recorded += recorded;
  emitted.lost += lost;
}

std::unique_ptr<Drainer> openDrainer(const fs::path& session, const fs::path& part) {
  DrainerOptions options;
  options.folder = session;
  options.part = part;
  auto drainer = Drainer::open(std::move(options));
  EXPECT_TRUE(drainer) << drainer.error().message;
  return *std::move(drainer);
}

// Writes and drains at the same time. `emitted`: the emitted records; the result counts what became
// of them.
DrainTotals record(std::uint64_t limitBytes, const fs::path& output, Emitted& emitted) {
  const test::SpoolFolder session(limitBytes);
  EXPECT_TRUE(core::attach(session.path().c_str(), nullptr));
  auto drainer = openDrainer(session.path(), output.string() + ".part");
  std::atomic<int> running{kWriters};
  std::vector<std::thread> writers;
  for (int at = 0; at < kWriters; ++at) {
    writers.emplace_back([&] {
      write(emitted);
      --running;
    });
  }
  while (running.load() > 0) {
    drainer->drainOnce();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  for (std::thread& writer : writers)
    writer.join();
  auto totals = drainer->finish(output);
  EXPECT_TRUE(totals) << totals.error().message;
  return *std::move(totals);
}

std::int64_t ask(const store::Database& trace, const std::string& sql) {
  const auto answer = trace.queryInteger(sql);
  EXPECT_TRUE(answer) << answer.error().message;
  return *answer;
}

void expectEverything(std::uint64_t limitBytes, bool fits) {
  const test::TemporaryFolder folder;
  const fs::path output = folder.path() / "out.sonde";
  Emitted emitted;
  const DrainTotals totals = record(limitBytes, output, emitted);
  const auto trace = store::openTrace(output);
  ASSERT_TRUE(trace) << trace.error().message;
  const auto lost = ask(*trace,
                        "SELECT coalesce(sum(count), 0) FROM loss WHERE kind = 'scope begin' AND "
                        "reason = 'spool full'");
  EXPECT_EQ(ask(*trace, "SELECT count(*) FROM slice"), emitted.recorded.load());
  EXPECT_EQ(lost, emitted.lost.load());
  EXPECT_EQ(lost == 0, fits);
  EXPECT_EQ(ask(*trace, "SELECT count(DISTINCT thread_id) FROM slice"), kWriters);
  EXPECT_EQ(totals.skippedRecords, 0U);
  EXPECT_EQ(ask(*trace, "SELECT count(*) FROM loss WHERE reason <> 'spool full'"), 0);
}

TEST(WriterAndDrainer, StoreAllThereIsRoomFor) {
  EXPECT_TRUE(test::inChild([] { expectEverything(256 << 20, true); }));
}

TEST(WriterAndDrainer, StoreOrCountAllOfWhatDoesNotFit) {
  EXPECT_TRUE(test::inChild([] { expectEverything(1 << 20, false); }));
}

}  // namespace
}  // namespace sonde::recorder
