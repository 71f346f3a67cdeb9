// Measures the cost of a call on a file in the page cache, beside two clock reads in the same loop.
// Usage, with and without `sonde run --sources io --` or `strace -c` in front: file_call [BATCHES].
// Prints the median over batches of 512 calls, and the lower and upper tenth, in ns.
#include "bench/batches.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace {

constexpr int kCalls = 512;
constexpr int kBlocks = 256;

char gBlock[4096];

}  // namespace

int main(int count, char** arguments) {
  using namespace sonde::bench;
  const int batches = count > 1 ? std::atoi(arguments[1]) : 200;
  char path[] = "file_call.XXXXXX";
  const int fd = mkstemp(path);
  for (int block = 0; block < kBlocks; ++block) {
    if (write(fd, gBlock, sizeof gBlock) != sizeof gBlock)
      return 1;
  }
  std::vector<double> placed;
  std::vector<double> streamed;
  std::vector<double> throughBuffer;
  std::vector<double> outOfBuffer;
  FILE* const stream = fopen(path, "r");
  if (stream == nullptr)
    return 1;
  std::vector<double> reads;
  for (int batch = 0; batch < batches; ++batch) {
    placed.push_back(nsEach(kCalls, [&](int at) {
      static_cast<void>(!pread(fd, gBlock, sizeof gBlock, off_t{at % kBlocks} * 4096));
    }));
    lseek(fd, 0, SEEK_SET);
    streamed.push_back(
        nsEach(kBlocks, [&](int) { static_cast<void>(!read(fd, gBlock, sizeof gBlock)); }));
    rewind(stream);
    throughBuffer.push_back(
        nsEach(kBlocks, [&](int) { static_cast<void>(!fread(gBlock, 1, sizeof gBlock, stream)); }));
    rewind(stream);
    static_cast<void>(!fread(gBlock, 1, 1, stream));
    outOfBuffer.push_back(
        nsEach(kCalls, [&](int) { static_cast<void>(!fread(gBlock, 1, 4, stream)); }));
    reads.push_back(nsOfTwoClockReads(kCalls));
  }
  print("pread of 4 KiB", placed);
  print("read of 4 KiB", streamed);
  print("fread of 4 KiB", throughBuffer);
  print("fread of 4 bytes, out of libc's buffer", outOfBuffer);
  print("two clock reads", reads);
  unlink(path);
  return 0;
}
