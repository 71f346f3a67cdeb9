// Threads that spend known amounts of CPU time in known calls: "stack_tree THREADS SECONDS
// [LIBRARY]", the seconds of each thread. Prints "path NANOSECONDS" for each path, outermost first,
// with names, and "at NAME OFFSET" for each function: where it begins in its file
// (tests/e2e/threads/stack_test.py). With LIBRARY, its function `plugged` is one of the leaves.
#include <dlfcn.h>
#include <time.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#define SONDE_NOINLINE __attribute__((noinline))
// Keeps a call from being a function's last action, which would become a jump.
#define SONDE_STAY asm volatile("" ::: "memory")

namespace {

std::int64_t cpuNs() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

using Leaf = void (*)(long);
thread_local std::int64_t tLeafNs;

SONDE_NOINLINE void measured(Leaf leaf, long units) {
  const std::int64_t begin = cpuNs();
  leaf(units);
  tLeafNs = cpuNs() - begin;
}

}  // namespace

extern "C" {

void leafOne(long units);
void leafTwo(long units);
void middleOne(Leaf leaf, long units);
void middleTwo(Leaf leaf, long units);
void descend(int depth, Leaf leaf, long units);
void outerOne(int middle, Leaf leaf, long units);
void outerTwo(int middle, Leaf leaf, long units);
void threadBody(int seed, double seconds);

SONDE_NOINLINE void leafOne(long units) {
  for (volatile long i = 0; i < units; i = i + 1)
    ;
}

SONDE_NOINLINE void leafTwo(long units) {
  for (volatile long i = 0; i < units; i = i + 1)
    ;
  SONDE_STAY;
}

SONDE_NOINLINE void middleOne(Leaf leaf, long units) {
  measured(leaf, units);
  SONDE_STAY;
}

SONDE_NOINLINE void middleTwo(Leaf leaf, long units) {
  volatile char room[3000];  // a large frame
  room[0] = room[sizeof room - 1] = 0;
  measured(leaf, units);
  SONDE_STAY;
}

SONDE_NOINLINE void descend(int depth, Leaf leaf, long units) {
  if (depth == 0)
    measured(leaf, units);
  else
    descend(depth - 1, leaf, units);
  SONDE_STAY;
}

SONDE_NOINLINE void outerOne(int middle, Leaf leaf, long units) {
  if (middle == 0)
    middleOne(leaf, units);
  else if (middle == 1)
    middleTwo(leaf, units);
  else
    descend(5, leaf, units);
  SONDE_STAY;
}

SONDE_NOINLINE void outerTwo(int middle, Leaf leaf, long units) {
  if (middle == 0)
    middleOne(leaf, units);
  else if (middle == 1)
    middleTwo(leaf, units);
  else
    descend(5, leaf, units);
  SONDE_STAY;
}

}  // extern "C"

namespace {

constexpr int kMiddles = 3;
constexpr std::array kMiddleNames = {"middleOne", "middleTwo", "descend*6"};
constexpr std::array kOuterNames = {"outerOne", "outerTwo"};
std::vector<Leaf> gLeaves = {leafOne, leafTwo};
std::vector<std::string> gLeafNames = {"leafOne", "leafTwo"};
std::array<std::atomic<std::int64_t>, 2 * kMiddles * 3> gTruth;

void showPlace(const char* name, void* function) {
  Dl_info info{};
  if (dladdr(function, &info) != 0)
    std::printf(
        "at %s %#tx\n", name, static_cast<char*>(function) - static_cast<char*>(info.dli_fbase));
}

}  // namespace

extern "C" SONDE_NOINLINE void threadBody(int seed, double seconds) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::uniform_int_distribution<long> lengths(20'000, 4'000'000);
  const std::int64_t end = cpuNs() + static_cast<std::int64_t>(seconds * 1e9);
  while (cpuNs() < end) {
    const unsigned outer = random() % 2;
    // Not all paths are equally long.
    const unsigned middle = random() % 4 % kMiddles;
    const std::size_t leaf = random() % gLeaves.size();
    const long units = lengths(random) >> middle;
    (outer == 0 ? outerOne : outerTwo)(static_cast<int>(middle), gLeaves[leaf], units);
    gTruth[(outer * kMiddles + middle) * 3 + leaf] += tLeafNs;
  }
}

int main(int count, char** words) {
  if (count < 3)
    return 2;
  if (count > 3) {
    void* library = dlopen(words[3], RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr)
      return 1;
    gLeaves.push_back(reinterpret_cast<Leaf>(dlsym(library, "plugged")));
    gLeafNames.emplace_back("plugged");
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < std::atoi(words[1]); ++i)
    threads.emplace_back(threadBody, i + 1, std::atof(words[2]));
  for (std::thread& thread : threads)
    thread.join();
  for (std::size_t at = 0; at < gTruth.size(); ++at) {
    const std::size_t path = at / 3;
    if (at % 3 < gLeaves.size())
      std::printf("path %s;%s;measured;%s %lld\n",
                  kOuterNames[path / kMiddles],
                  kMiddleNames[path % kMiddles],
                  gLeafNames[at % 3].c_str(),
                  static_cast<long long>(gTruth[at].load()));
  }
  const std::array<std::pair<const char*, void*>, 6> functions = {{
      {"leafOne", reinterpret_cast<void*>(leafOne)},
      {"leafTwo", reinterpret_cast<void*>(leafTwo)},
      {"middleOne", reinterpret_cast<void*>(middleOne)},
      {"middleTwo", reinterpret_cast<void*>(middleTwo)},
      {"descend", reinterpret_cast<void*>(descend)},
      {"outerOne", reinterpret_cast<void*>(outerOne)},
  }};
  for (const auto& [name, function] : functions)
    showPlace(name, function);
  return 0;
}
