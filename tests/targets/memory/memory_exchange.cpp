// memory_exchange THREADS BLOCKS [FILE]: threads allocate BLOCKS blocks each, all of different
// sizes, and free blocks of other threads (tests/e2e/host/memory_test.py). Prints for each block
// "ADDRESS BYTES TID given|kept", where thread TID allocated it. With FILE, half of the threads do
// so before the line "half" is printed, and the others once FILE exists.
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <span>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kLeast = 70'000;

struct Block {
  std::uintptr_t address;
  std::size_t bytes;
  long thread;
  std::atomic<bool> isGiven{false};
};

std::array<std::atomic<Block*>, 64> gPlaces{};

// Each new block replaces another one, which is freed.
void work(std::span<Block> blocks, std::size_t first, unsigned seed) {
  std::minstd_rand random(seed);
  const long self = syscall(SYS_gettid);
  for (std::size_t at = 0; at < blocks.size(); ++at) {
    Block& block = blocks[at];
    block.bytes = kLeast + first + at;
    block.thread = self;
    void* const memory = std::malloc(block.bytes);
    block.address = reinterpret_cast<std::uintptr_t>(memory);
    Block* const other = gPlaces[random() % gPlaces.size()].exchange(&block);
    if (other == nullptr)
      continue;
    other->isGiven = true;
    std::free(reinterpret_cast<void*>(other->address));
  }
}

}  // namespace

int main(int words, char** argv) {
  const std::size_t threads = std::strtoul(argv[1], nullptr, 10);
  const std::size_t count = std::strtoul(argv[2], nullptr, 10);
  std::vector<Block> all(threads * count);  // larger than any of them
  const auto run = [&](std::size_t first, std::size_t last) {
    std::vector<std::thread> running;
    for (std::size_t at = first; at < last; ++at)
      running.emplace_back(work,
                           std::span(all).subspan(at * count, count),
                           at * count,
                           static_cast<unsigned>(at + 1));
    for (std::thread& thread : running)
      thread.join();
  };
  const std::size_t half = words > 3 ? threads / 2 : 0;
  run(0, half);
  if (half > 0) {
    std::puts("half");
    std::fflush(stdout);
    while (access(argv[3], F_OK) != 0)
      usleep(10'000);
  }
  run(half, threads);
  for (const Block& block : all)
    std::printf("%llu %zu %ld %s\n",
                static_cast<unsigned long long>(block.address),
                block.bytes,
                block.thread,
                block.isGiven ? "given" : "kept");
}
