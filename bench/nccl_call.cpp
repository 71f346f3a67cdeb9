// What a call of NCCL costs on the stand-in for NCCL, alone and in a group of 32, beside two clock
// reads in the same loop. Usage, with and without `sonde run --` in front: nccl_call [BATCHES].
// Prints the median over batches of 512 calls, and the lower and upper tenth, in ns.
#include "tests/ncclsim/ncclsim.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
constexpr int kCalls = 512;
constexpr int kGroup = 32;

float gBuffer[4096];

// Calls `body` kCalls times.
template <typename Body>
double nsEach(Body body) {
  const auto begin = Clock::now();
  for (int at = 0; at < kCalls; ++at)
    body(at);
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / kCalls;
}

void print(const char* what, std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
  };
  std::printf("%-16s %7.1f  (%.1f to %.1f)\n", what, at(0.5), at(0.1), at(0.9));
}

}  // namespace

int main(int count, char** arguments) {
  const int batches = count > 1 ? std::atoi(arguments[1]) : 200;
  ncclUniqueId id;
  ncclComm_t comm = nullptr;
  ncclGetUniqueId(&id);
  ncclCommInitRank(&comm, 2, id, 0);
  const auto allReduce = [&](int) {
    ncclAllReduce(gBuffer, gBuffer, 1024, ncclsimFloat32, 0, comm, nullptr);
  };
  std::vector<double> calls;
  std::vector<double> grouped;
  std::vector<double> reads;
  for (int batch = 0; batch < batches; ++batch) {
    calls.push_back(nsEach(allReduce));
    grouped.push_back(nsEach([&](int at) {
      if (at % kGroup == 0)
        ncclGroupStart();
      allReduce(at);
      if (at % kGroup == kGroup - 1)
        ncclGroupEnd();
    }));
    reads.push_back(nsEach([](int) {
      static_cast<void>(Clock::now());
      static_cast<void>(Clock::now());
    }));
  }
  print("call", calls);
  print("call in a group", grouped);
  print("two clock reads", reads);
  ncclCommDestroy(comm);
  return 0;
}
