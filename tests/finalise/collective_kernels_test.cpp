#include "analysis/finalise/collective_kernels.h"

#include "tests/support/ingest_rig.h"
#include "tests/support/run_program.h"
#include "tests/support/trace_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde::ingest {
namespace {

using testing::ElementsAre;

class CollectiveKernels : public ::testing::Test {
 protected:
  CollectiveKernels() {
    const auto host = trace_.add(model::Host{.name = "a"});
    process_ = trace_.add(model::Process{.hostId = host, .pid = 10});
    thread_ = trace_.add(model::Thread{.processId = process_, .tid = 10});
    communicator_ =
        trace_.add(model::Communicator{.processId = process_, .jobKey = "nccl:1", .size = 2});
    model::Stream stream;
    stream.processId = process_;
    stream.deviceId = trace_.add(model::Device{.hostId = host, .name = "GPU"});
    stream_ = trace_.add(stream);
  }

  model::SliceId slice(const std::string& name,
                       std::int64_t start,
                       std::string_view category = "nccl",
                       model::SliceId parent = {}) {
    model::Slice row;
    row.threadId = thread_;
    row.kind = model::SliceKind::Api;
    row.category = category;
    row.nameId = trace_.name(name);
    row.startNs = start;
    row.durNs = parent ? 1 : 5;
    row.parentId = parent;
    row.depth = parent ? 1 : 0;
    return trace_.add(row);
  }
  // Its call is a slice at that start, in the group with that number; 0: in none.
  model::SliceId allReduce(std::int64_t start, std::int64_t group) {
    model::Collective row;
    row.processId = process_;
    row.communicatorId = communicator_;
    row.op = model::CollectiveOp::Allreduce;
    row.startNs = start;
    row.sliceId = slice("ncclAllReduce", start);
    const model::CollectiveId id = trace_.add(row);
    if (group != 0)
      trace_.add(model::Arg{.owner = model::Owner::Collective,
                            .ownerId = id.value,
                            .keyId = trace_.name("grouped"),
                            .value = group});
    return row.sliceId;
  }
  // A kernel launched in the slice; ends at `end`.
  void kernel(model::SliceId in, std::int64_t launch, std::int64_t end) {
    model::Kernel row;
    row.work.streamId = stream_;
    row.work.nameId = trace_.name("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)");
    row.work.startNs = end - 1;
    row.work.durNs = 1;
    row.work.launchSliceId = slice("cudaLaunchKernel", launch, "cuda", in);
    trace_.add(row);
  }
  std::vector<std::string> joined() {
    trace_.finish(false);
    store::Database trace = test::must(store::Database::open(path_, store::Access::ReadWrite));
    store::Transaction transaction = test::must(store::Transaction::begin(trace));
    test::must(joinCollectiveKernels(trace));
    test::must(transaction.commit());
    return test::readRows(trace, "SELECT start_ns, dur_ns FROM collective ORDER BY start_ns");
  }

  test::TemporaryFolder folder_;
  const std::string path_ = folder_ / "kernels.sonde";
  test::TraceBuilder trace_{path_};
  model::ProcessId process_;
  model::ThreadId thread_;
  model::CommunicatorId communicator_;
  model::StreamId stream_;
};

TEST_F(CollectiveKernels, OfAGroupAreLaunchedInItsEnd) {
  allReduce(10, 1);
  allReduce(20, 1);
  kernel(slice("ncclGroupEnd", 30), 31, 60);
  EXPECT_THAT(joined(), ElementsAre("10|50", "20|40"));
}

TEST_F(CollectiveKernels, OfAGroupWhoseEndWasLostAreNotThoseOfTheNextGroup) {
  allReduce(10, 1);
  kernel(allReduce(20, 0), 21, 50);
  allReduce(30, 2);
  kernel(slice("ncclGroupEnd", 40), 41, 90);
  EXPECT_THAT(joined(), ElementsAre("10|-", "20|30", "30|60"));
}

TEST_F(CollectiveKernels, OfAGroupWhoseEndWasLostAreNotThoseOfTheGroupRightBehindIt) {
  allReduce(10, 15);
  allReduce(30, 1);
  kernel(slice("ncclGroupEnd", 40), 41, 90);
  EXPECT_THAT(joined(), ElementsAre("10|-", "30|60"));
}

}  // namespace
}  // namespace sonde::ingest
