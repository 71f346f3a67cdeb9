// sync_oddities CASE: facilities built on the functions that the probe intercepts, and guarantees
// that their callers rely on (tests/e2e/threads/sync_test.py). Exit status 1: a call behaved
// differently than without Sonde.
#include "tests/targets/sync/sync_threads.h"

#include <linux/futex.h>
#include <sys/mman.h>

#include <cstring>
#include <future>

namespace {

// get() joins the thread that does the work.
void async() {
  std::atomic<int> worker{0};
  auto result = std::async(std::launch::async, [&] {
    worker.store(ownTid());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return 7;
  });
  check(result.get() == 7, "std::async");
  std::printf("pthread_join %d %d\n", ownTid(), worker.load());
}

// syscall(2) from a caller that passes no seventh word: the stack in its place must not be written.
void callersStack() {
#if defined(__x86_64__)
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  auto* const pages = static_cast<char*>(
      mmap(nullptr, 17 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  char* const edge = pages + 16 * page;
  check(mprotect(edge, page, PROT_READ) == 0, "mprotect");
  const auto call = [&](long number, long first, long second) {
    long result = number;
    __asm__ volatile(
        "mov %%rsp, %%rbx\n\t"
        "mov %[edge], %%rsp\n\t"
        "call syscall@PLT\n\t"
        "mov %%rbx, %%rsp"
        : "=a"(result), "+D"(number), "+S"(first), "+d"(second)
        : [edge] "r"(edge)
        : "rbx", "rcx", "r8", "r9", "r10", "r11", "memory", "cc");
    return result;
  };
  int word = 0;
  check(call(SYS_gettid, 0, 0) == ownTid(), "gettid");
  check(call(SYS_futex, reinterpret_cast<long>(&word), FUTEX_WAKE_PRIVATE) == 0, "futex");
#endif
}

}  // namespace

int main(int count, char** arguments) {
  check(count == 2, "usage: sync_oddities async|callers_stack");
  if (std::strcmp(arguments[1], "async") == 0)
    async();
  else
    callersStack();
}
