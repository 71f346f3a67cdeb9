// Rules judge a recording that grows as they judge it when read anew: random streams of events, cut
// at random times. SONDE_SLOW makes ten thousand cuts in place of four hundred.
#include "rules/reporters/reporters.h"
#include "tests/rules/rule_trace.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <random>

namespace sonde::rules {
namespace {

using sonde::test::must;

constexpr std::int64_t kMs = 1'000'000;
constexpr int kCutsOfAStream = 20;

Configuration allRules() {
  Configuration configuration;
  for (const RuleInfo& info : builtinRules())
    configuration.rules.push_back({&info, Severity::Error, Parameters(info.parameters)});
  return configuration;
}

// Two ranks that iterate, compute on devices, reduce, record scalars and tensors, and may be slow,
// leak, diverge or stop.
class Stream {
 public:
  explicit Stream(unsigned seed) : random_(seed), trace_(path()) {
    host_ = trace_.add(
        model::Host{.name = "h", .bootId = "boot", .cpuCount = 4, .memoryBytes = 1'000'000});
    for (std::size_t number = 0; number < 2; ++number)
      ranks_[number] = begin(static_cast<std::int64_t>(number));
    trace_.meta("sources", "annotation,torch,cuda,gloo,system,tensor");
    commit();
  }

  std::string path() const { return folder_ / "s.sonde"; }

  void grow() {
    for (int events = upTo(12); events >= 0; --events)
      add(ranks_[static_cast<std::size_t>(upTo(1))]);
    std::int64_t latest = 0;
    for (const Rank& rank : ranks_)
      latest = std::max(latest, rank.nowNs);
    trace_.meta("watermark_ns", std::to_string(latest));
    commit();
  }

 private:
  struct Rank {
    model::Process process;
    model::ThreadId thread;
    model::DeviceId device;
    model::StreamId stream;
    model::CommunicatorId group;
    model::CounterId resident;
    model::CounterId busy;
    std::optional<model::Iteration> open;
    std::int64_t nowNs = 0;
    std::int64_t number = 0;
    std::int64_t collectives = 0;
    std::int64_t block = 0;
  };

  int upTo(int most) { return std::uniform_int_distribution<int>(0, most)(random_); }

  void commit() {
    must(trace_.writer().commit());
    must(trace_.writer().begin());
  }

  Rank begin(std::int64_t number) {
    Rank rank;
    rank.process = {.hostId = host_,
                    .pid = 100 + number,
                    .rank = number,
                    .worldSize = 2,
                    .startNs = 0,
                    .state = model::ProcessState::Running,
                    .startTime = 1};
    rank.process.id = trace_.add(rank.process);
    rank.thread = trace_.add(model::Thread{.processId = rank.process.id, .tid = 100 + number});
    rank.device = trace_.add(
        model::Device{.hostId = host_, .kind = "gpu", .ordinal = number, .memoryBytes = 1'000'000});
    rank.stream = trace_.add(
        model::Stream{.processId = rank.process.id, .deviceId = rank.device, .number = 7});
    rank.group = trace_.add(model::Communicator{
        .processId = rank.process.id, .jobKey = "world", .size = 2, .position = number});
    rank.resident = counter("resident memory", rank.process.id, {});
    rank.busy = counter("GPU busy", {}, rank.device);
    return rank;
  }

  model::CounterId counter(const char* name, model::ProcessId process, model::DeviceId device) {
    return trace_.add(model::Counter{.hostId = host_,
                                     .processId = process,
                                     .deviceId = device,
                                     .nameId = trace_.name(name),
                                     .unit = "1",
                                     .kind = model::CounterKind::Gauge});
  }

  void add(Rank& rank) {
    rank.nowNs += upTo(40) * kMs;
    switch (upTo(8)) {
      case 0:
      case 1:
        return switchIteration(rank);
      case 2:
        return addScalar(rank);
      case 3:
        return addTensor(rank);
      case 4:
        return addKernel(rank);
      case 5:
        return addCollective(rank);
      case 6:
        trace_.add(model::Sample{rank.resident, rank.nowNs, 1e6 * (100 + upTo(30))});
        trace_.add(model::Sample{rank.busy, rank.nowNs, upTo(100) / 100.0});
        return;
      case 7:
        return addAllocation(rank);
      default:
        rank.nowNs += upTo(20) == 0 ? 20'000 * kMs : 0;  // it stands still
    }
  }

  // Iterations are rows without an end while they are open.
  void switchIteration(Rank& rank) {
    if (rank.open) {
      rank.open->durNs = rank.nowNs - rank.open->startNs;
      must(trace_.writer().update(*rank.open));
      rank.open.reset();
      return;
    }
    model::Iteration row;
    row.processId = rank.process.id;
    row.number = rank.number++;
    row.startNs = rank.nowNs;
    row.id = trace_.add(row);
    rank.open = row;
  }

  void addScalar(Rank& rank) {
    const double value = upTo(60) == 0 ? std::nan("") : 2.0 / static_cast<double>(1 + rank.number);
    trace_.add(model::Scalar{rank.process.id,
                             upTo(10) == 0 ? model::OptionalInt{} : rank.number - upTo(1),
                             trace_.name(upTo(3) == 0 ? "val_loss" : "loss"),
                             value,
                             rank.nowNs});
  }

  void addTensor(Rank& rank) {
    static constexpr const char* kNames[] = {"fc1.weight", "fc2.weight", "relu"};
    static constexpr const char* kCollections[] = {"weights", "gradients", "activations"};
    model::Tensor row;
    row.processId = rank.process.id;
    row.iteration = rank.number;
    row.nameId = trace_.name(kNames[upTo(2)]);
    row.collection = kCollections[upTo(2)];
    row.tsNs = rank.nowNs;
    row.elements = 100;
    row.minimum = -1.0;
    row.maximum = 1.0;
    row.mean = upTo(10) / 1e8;
    row.variance = 0.1;
    row.l1 = upTo(5) / 1e7;
    row.l2 = 1.0 + upTo(2);
    row.zeros = upTo(10) == 0 ? 100 : 3;
    row.nans = upTo(80) == 0 ? 1 : 0;
    row.infs = 0;
    row.histogram = "[[-1,50],[0,50],[1,0]]";
    trace_.add(row);
  }

  void addKernel(Rank& rank) {
    const auto launch = trace_.slice(rank.thread,
                                     model::SliceKind::Api,
                                     upTo(3) == 0 ? "cudaStreamSynchronize" : "cudaLaunchKernel",
                                     {rank.nowNs, rank.nowNs + kMs});
    model::Kernel row;
    row.work.streamId = rank.stream;
    row.work.nameId = trace_.name("gemm");
    row.work.startNs = rank.nowNs + kMs;
    row.work.durNs = upTo(20) * kMs;
    row.work.launchSliceId = launch;
    row.grid = {1 + upTo(3), 1, 1};
    trace_.add(row);
  }

  void addCollective(Rank& rank) {
    model::Collective row;
    row.processId = rank.process.id;
    row.communicatorId = rank.group;
    row.seq = rank.collectives++;
    row.bytes = upTo(30) == 0 ? 8 : 1000;
    row.startNs = rank.nowNs;
    if (upTo(20) != 0)
      row.durNs = 3 * kMs;
    trace_.add(row);
  }

  void addAllocation(Rank& rank) {
    model::Allocation row;
    row.processId = rank.process.id;
    row.deviceId = rank.device;
    row.address = 4096 * ++rank.block;
    row.bytes = 1'000'000;
    row.allocNs = rank.nowNs;
    if (upTo(3) != 0)
      row.freeNs = rank.nowNs + 5 * kMs;
    trace_.add(row);
  }

  std::mt19937 random_;
  sonde::test::TemporaryFolder folder_;
  sonde::test::TraceBuilder trace_;
  model::HostId host_;
  Rank ranks_[2];
};

TEST(LiveEqualsOffline, AtRandomCutsOfRandomStreams) {
  const unsigned streams = std::getenv("SONDE_SLOW") != nullptr ? 500 : 20;
  const Configuration configuration = allRules();
  std::map<Verdict, int> verdicts;
  for (unsigned seed = 0; seed < streams; ++seed) {
    Stream stream(seed);
    const store::Database live =
        must(store::Database::open(stream.path(), store::Access::ReadOnly));
    Facts facts(live);
    for (int cut = 0; cut < kCutsOfAStream; ++cut) {
      stream.grow();
      must(facts.refresh());
      const CheckReport seen = judge(facts, configuration, "2027-01-01");
      const store::Database trace = must(store::openTrace(stream.path()));
      Facts fresh(trace);
      const CheckReport read = judge(fresh, configuration, "2027-01-01");
      ASSERT_EQ(renderJson(seen), renderJson(read)) << "seed " << seed << ", cut " << cut;
      for (const CheckResult& each : read.results)
        ++verdicts[each.outcome.verdict];
    }
  }
  EXPECT_EQ(verdicts[Verdict::Error], 0);
  for (const Verdict each :
       {Verdict::Fired, Verdict::Pass, Verdict::Insufficient, Verdict::Skipped})
    EXPECT_GT(verdicts[each], 100) << wordOf(each);
}

}  // namespace
}  // namespace sonde::rules
