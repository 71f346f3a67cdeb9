// Measures the cost of an NCCL call on the stand-in for NCCL, alone and in a group of 32, beside
// two clock reads in the same loop. Usage, with and without `sonde run --` in front: nccl_call
// [BATCHES]. Prints the median over batches of 512 calls, and the lower and upper tenth, in ns.
#include "bench/batches.h"
#include "tests/ncclsim/ncclsim.h"

#include <cstdlib>

namespace {

constexpr int kCalls = 512;
constexpr int kGroup = 32;

float gBuffer[4096];

}  // namespace

int main(int count, char** arguments) {
  using namespace sonde::bench;
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
    calls.push_back(nsEach(kCalls, allReduce));
    grouped.push_back(nsEach(kCalls, [&](int at) {
      if (at % kGroup == 0)
        ncclGroupStart();
      allReduce(at);
      if (at % kGroup == kGroup - 1)
        ncclGroupEnd();
    }));
    reads.push_back(nsOfTwoClockReads(kCalls));
  }
  print("call", calls);
  print("call in a group", grouped);
  print("two clock reads", reads);
  ncclCommDestroy(comm);
  return 0;
}
