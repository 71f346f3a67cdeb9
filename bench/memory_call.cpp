// Measures a malloc and its free together: small blocks, one by one and with others in use; blocks
// above the threshold of probe `memory`; and blocks that are also written to, as in real use.
// Usage, also behind `sonde run --sources memory --` and with LD_PRELOAD: memory_call [BATCHES].
// Prints the median over batches of 2,000 blocks, and the lower and upper tenth, in ns.
// bench/memory_overhead.py compares.
#include "bench/batches.h"

#include <cstdlib>
#include <cstring>

namespace {

constexpr int kBlocks = 2000;
constexpr int kKept = 1000;  // large ones, so that the probe's table is not empty
constexpr std::size_t kLarge = 70'000;

void* opaque(void* block) {
  __asm__ volatile("" : "+r"(block) : : "memory");
  return block;
}

double oneByOne(std::size_t bytes, bool writes) {
  return sonde::bench::nsEach(kBlocks, [=](int at) {
    void* const block = opaque(std::malloc(bytes));
    if (writes)
      std::memset(block, at, bytes);
    std::free(opaque(block));
  });
}

// All blocks in use at the same time, on many pages.
double together(std::size_t bytes) {
  static void* blocks[kBlocks];
  const double given = sonde::bench::nsEach(kBlocks, [=](int at) {
    blocks[at] = opaque(std::malloc(bytes + static_cast<unsigned>(at) % 7 * 16));
  });
  return given + sonde::bench::nsEach(kBlocks, [](int at) { std::free(blocks[at]); });
}

}  // namespace

int main(int count, char** arguments) {
  const int batches = count > 1 ? std::atoi(arguments[1]) : 100;
  static void* kept[kKept];
  for (void*& block : kept)
    block = std::malloc(kLarge);
  const struct {
    const char* name;
    double (*measure)();
  } cases[] = {
      {"64 B", [] { return oneByOne(64, false); }},
      {"64 B, together", [] { return together(64); }},
      {"1 KiB, together", [] { return together(1024); }},
      {"70 kB", [] { return oneByOne(kLarge, false); }},
      {"70 kB, written", [] { return oneByOne(kLarge, true); }},
  };
  std::vector<double> each[std::size(cases)];
  for (int batch = 0; batch < batches; ++batch) {
    for (std::size_t at = 0; at < std::size(cases); ++at)
      each[at].push_back(cases[at].measure());
  }
  for (std::size_t at = 0; at < std::size(cases); ++at)
    sonde::bench::print(cases[at].name, each[at]);
  for (void* block : kept)
    std::free(block);
  return 0;
}
