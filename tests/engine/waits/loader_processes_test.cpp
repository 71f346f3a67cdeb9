#include "analysis/engine/waits/loader_processes.h"

#include "analysis/store/trace_file.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace sonde::engine::waits {
namespace {

using test::must;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

// A rank that loads data from 10 to 20 and from 100 to 200, by another name.
class LoaderProcesses : public ::testing::Test {
 protected:
  LoaderProcesses() {
    rank_ = trace_.add(model::Process{.hostId = host_, .pid = 7, .rank = 0, .startNs = 1});
    main_ = trace_.add(model::Thread{.processId = rank_, .tid = 7});
    trace_.slice(main_, model::SliceKind::DataLoad, "start", {10, 20});
    for (const std::int64_t begin : {100, 150})
      trace_.slice(main_, model::SliceKind::DataLoad, "next", {begin, begin + 50});
  }
  model::ProcessId process(model::ProcessId parent, std::int64_t startNs) {
    return trace_.add(
        model::Process{.hostId = host_, .pid = 8, .parentId = parent, .startNs = startNs});
  }
  // The rank's main thread receives at that time.
  void send(model::ProcessId from, std::int64_t receivedNs) {
    const auto theirs =
        trace_.add(model::Channel{.processId = from, .kind = model::ChannelKind::Pipe});
    const auto ours = trace_.add(model::Channel{
        .processId = rank_, .kind = model::ChannelKind::Pipe, .peerChannelId = theirs});
    pairs_.emplace_back(theirs, ours);
    trace_.add(model::Transfer{
        .channelId = theirs, .direction = model::Direction::Send, .bytes = 9, .startNs = 90});
    trace_.add(model::Transfer{.channelId = ours,
                               .threadId = main_,
                               .direction = model::Direction::Receive,
                               .bytes = 9,
                               .startNs = receivedNs});
  }
  // By process: for whom it loads, and under which name.
  std::map<std::int64_t, std::string> found() {
    trace_.finish();
    {
      auto trace = must(store::Database::open(path_, store::Access::ReadWrite));
      for (const auto& [theirs, ours] : pairs_)
        must(trace.exec(fmt::format(
            "UPDATE channel SET peer_channel_id = {} WHERE id = {}", ours.value, theirs.value)));
    }
    const auto trace = must(store::openTrace(path_));
    std::map<std::int64_t, std::string> all;
    for (const auto& [process, loader] : must(readLoaderProcesses(trace)))
      all[process] = must(trace.queryText(fmt::format(
          "SELECT '{} ' || text FROM string WHERE id = {}", loader.loadsFor, loader.nameId)));
    return all;
  }
  static auto loader(model::ProcessId process) { return Pair(process.value, "1 next"); }

  test::TemporaryFolder folder_;
  std::string path_ = folder_ / "t.sonde";
  test::TraceBuilder trace_{path_};
  model::HostId host_ = trace_.add(model::Host{.name = "h"});
  model::ProcessId rank_;
  model::ThreadId main_;
  std::vector<std::pair<model::ChannelId, model::ChannelId>> pairs_;
};

TEST_F(LoaderProcesses, BeginWhileTheirParentLoads) {
  const auto during = process(rank_, 15);
  process(rank_, 50);
  process(rank_, 5);
  EXPECT_THAT(found(), UnorderedElementsAre(loader(during)));
}

// On a busy machine the first instruction of a worker comes after the slice that started it.
TEST_F(LoaderProcesses, MayBeginLateIfTheyAreReceivedFromInALoad) {
  const auto worker = process(rank_, 30);
  send(worker, 120);
  const auto reporter = process(rank_, 30);
  send(reporter, 60);
  EXPECT_THAT(found(), UnorderedElementsAre(loader(worker)));
}

TEST_F(LoaderProcesses, MayReplaceThemselves) {
  const auto image = process(process(rank_, 9), 21);
  send(image, 120);
  const auto early = process(process(rank_, 9), 15);
  EXPECT_THAT(found(), UnorderedElementsAre(loader(image), loader(early)));
}

TEST_F(LoaderProcesses, OfOtherRanksDoNotCount) {
  const auto other =
      trace_.add(model::Process{.hostId = host_, .pid = 70, .rank = 1, .startNs = 1});
  process(other, 15);
  send(process(other, 30), 120);
  EXPECT_THAT(found(), IsEmpty());
}

}  // namespace
}  // namespace sonde::engine::waits
