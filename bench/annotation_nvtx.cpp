// Measures the cost of an NVTX push/pop pair for its thread, in units of two clock reads, under a
// real recorder:
//
//   build/dev/bin/sonde run -f -o /tmp/nvtx.sonde -- build/dev/bench/annotation_nvtx [GiB]
//
// Batches of clock reads and of pairs alternate. Each batch is compared with the clock reads beside
// it, so that changes of the machine's speed cancel. Names are dynamic: 64 texts in turn, looked up
// at every push. The program sleeps between batches so that the recorder keeps up; the run's
// summary must not report losses.
#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace {

constexpr int kBatch = 100'000;
constexpr double kBytesPerPair = 40;
constexpr std::size_t kNames = 64;

std::uint64_t readClock() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

void keep(std::uint64_t value) {
  asm volatile("" : : "r"(value) : "memory");
}

template <typename Body>
double nsPerCall(Body body) {
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t call = 0; call < kBatch; ++call)
    body(call);
  const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - begin;
  return spent.count() / kBatch;
}

double at(std::vector<double>& values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

struct Series {
  const char* name;
  std::vector<double> ratio;
  std::vector<double> extra;  // ns beyond two clock reads

  void add(double pair, double clocks) {
    ratio.push_back(pair / clocks);
    extra.push_back(pair - clocks);
  }
  void print() {
    std::printf(
        "%-24s ratio to two clock reads %5.2f (p10 %5.2f, p90 %5.2f), beyond them %5.1f ns (%5.1f, "
        "%5.1f)\n",
        name,
        at(ratio, 0.5),
        at(ratio, 0.1),
        at(ratio, 0.9),
        at(extra, 0.5),
        at(extra, 0.1),
        at(extra, 0.9));
  }
};

nvtxEventAttributes_t eventOf(nvtxStringHandle_t name) {
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = name;
  return event;
}

}  // namespace

int main(int argc, char** argv) {
  const double gib = argc > 1 ? std::atof(argv[1]) : 1.0;
  const int batches = static_cast<int>(gib * (1 << 30) / (2 * kBatch * kBytesPerPair)) + 1;
  std::vector<std::string> names;
  for (std::size_t name = 0; name < kNames; ++name)
    names.push_back("layer " + std::to_string(name) + " forward");
  const nvtxEventAttributes_t registered =
      eventOf(nvtxDomainRegisterStringA(nullptr, "registered"));
  Series dynamic{"dynamic text", {}, {}};
  Series fixed{"registered string", {}, {}};
  std::vector<double> clocks;
  for (int batch = 0; batch < batches; ++batch) {
    clocks.push_back(nsPerCall([](std::size_t) {
      keep(readClock());
      keep(readClock());
    }));
    dynamic.add(nsPerCall([&](std::size_t call) {
                  nvtxRangePushA(names[call % kNames].c_str());
                  nvtxRangePop();
                }),
                clocks.back());
    fixed.add(nsPerCall([&](std::size_t) {
                nvtxRangePushEx(&registered);
                nvtxRangePop();
              }),
              clocks.back());
    ::usleep(700'000);
  }
  const bool recorded = nvtxRangePushA("is anybody there") >= 0;
  nvtxRangePop();
  std::printf("two clock reads          %.1f ns; %d batches of %d pairs, %.2f GiB, %s\n",
              at(clocks, 0.5),
              batches,
              kBatch,
              2.0 * batches * kBatch * kBytesPerPair / (1 << 30),
              recorded ? "recorded" : "no recorder in this process: these are no-ops");
  dynamic.print();
  fixed.print();
}
