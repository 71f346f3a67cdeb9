// memory_calls CASE: known allocations, each made in the operation "make LABEL" and freed in "drop
// LABEL" (tests/e2e/host/memory_test.py). Prints a line "LABEL ADDRESS BYTES dropped|kept" for
// each. Exit status 1: a call behaved differently than without Sonde.
#include "plugins/api/sonde.h"

#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <thread>

extern "C" void __libc_free(void* block);

namespace {

constexpr std::size_t kBytes = 100'000;
constexpr std::size_t kHuge = std::numeric_limits<std::ptrdiff_t>::max();

void check(bool holds, const char* what) {
  if (holds)
    return;
  std::fprintf(stderr, "memory_calls: %s\n", what);
  std::exit(1);
}

// Hides the value from the compiler, which would omit a malloc that is only freed.
template <typename T>
T opaque(T value) {
  __asm__ volatile("" : "+r"(value) : : "memory");
  return value;
}

void* in(const std::string& operation, const std::function<void*()>& act) {
  const sonde_scope scope = sonde_begin(SONDE_OPERATION, operation.c_str());
  void* const block = opaque(act());
  sonde_end(scope);
  return block;
}

void say(const std::string& label, const void* block, std::size_t bytes, const char* end) {
  std::printf("%s %llu %zu %s\n",
              label.c_str(),
              static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(block)),
              bytes,
              end);
}

void* make(const std::string& label, const std::function<void*()>& act) {
  void* const block = in("make " + label, act);
  check(block != nullptr, label.c_str());
  return block;
}

void drop(const std::string& label, void* block) {
  in("drop " + label, [&] {
    std::free(block);
    return nullptr;
  });
}

void makeAndDrop(const std::string& label, std::size_t bytes, const std::function<void*()>& act) {
  void* const block = make(label, act);
  std::memset(block, 1, bytes);
  say(label, block, bytes, "dropped");
  drop(label, block);
}

void each() {
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  makeAndDrop("malloc", kBytes, [] { return std::malloc(kBytes); });
  makeAndDrop("calloc", 50 * 2001, [] { return std::calloc(50, 2001); });
  makeAndDrop(
      "realloc", kBytes + 1, [] { return std::realloc(opaque<void*>(nullptr), kBytes + 1); });
  makeAndDrop(
      "reallocarray", 70 * 2002, [] { return reallocarray(opaque<void*>(nullptr), 70, 2002); });
  makeAndDrop("posix_memalign", kBytes + 2, [] {
    void* block = nullptr;
    return posix_memalign(&block, 4096, kBytes + 2) == 0 ? block : nullptr;
  });
  makeAndDrop("aligned_alloc", 64 * 2000, [] { return std::aligned_alloc(64, 64 * 2000); });
  makeAndDrop("memalign", kBytes + 3, [] { return memalign(256, kBytes + 3); });
  makeAndDrop("valloc", kBytes + 4, [] { return valloc(kBytes + 4); });
  makeAndDrop("pvalloc", 40 * page, [page] { return pvalloc(40 * page); });
  void* const array = make("new", [] { return static_cast<void*>(new char[kBytes + 5]); });
  say("new", array, kBytes + 5, "dropped");
  in("drop new", [&] {
    delete[] static_cast<char*>(array);
    return nullptr;
  });
  say("kept", make("kept", [] { return std::malloc(kBytes + 6); }), kBytes + 6, "kept");
}

// The probe ignores blocks of 65535 bytes and less, however they are allocated and freed.
void small() {
  for (int round = 0; round < 100; ++round) {
    for (std::size_t bytes = 1; bytes < 65'536; bytes = 2 * bytes + 1) {
      void* const block = opaque(std::realloc(opaque(std::malloc(bytes)), bytes / 2 + 1));
      check(block != nullptr, "small");
      std::free(block);
      std::free(opaque(std::calloc(1, bytes)));
    }
  }
}

// A block ends where the next one begins, even if it stays in place; a failure changes nothing.
void resizing() {
  void* first = make("first", [] { return std::malloc(kBytes); });
  say("first", first, kBytes, "resized");
  errno = 0;
  check(opaque(std::realloc(first, opaque(kHuge))) == nullptr && errno == ENOMEM, "a huge realloc");
  check(opaque(reallocarray(first, opaque(kHuge), 4)) == nullptr, "a huge reallocarray");
  void* const second = make("second", [&] { return std::realloc(first, 3 * kBytes); });
  say("second", second, 3 * kBytes, "resized");
  void* const third = make("third", [&] { return std::realloc(second, 2 * kBytes); });
  say("third", third, 2 * kBytes, "resized");
  // Too small to be recorded, then large again.
  void* const shrunk = in("shrink", [&] { return std::realloc(third, 100); });
  void* const fourth = make("fourth", [&] { return std::realloc(shrunk, 4 * kBytes); });
  say("fourth", fourth, 4 * kBytes, "resized");
  in("end", [&] { return std::realloc(fourth, 0); });
}

void oddities() {
  errno = 0;
  check(opaque(std::malloc(opaque(kHuge))) == nullptr && errno == ENOMEM, "a huge malloc");
  check(opaque(std::calloc(opaque(kHuge), 16)) == nullptr, "a calloc that overflows");
  void* none = nullptr;
  check(posix_memalign(&none, 64, opaque(kHuge)) == ENOMEM && none == nullptr, "a huge memalign");
  check(posix_memalign(&none, 3, kBytes) == EINVAL, "an alignment that is none");
  std::free(nullptr);
  void* const block = make("zeroed", [] { return std::calloc(1, kBytes); });
  for (std::size_t at = 0; at < kBytes; ++at)
    check(static_cast<const char*>(block)[at] == 0, "calloc's zeros");
  check(malloc_usable_size(block) >= kBytes, "malloc_usable_size");
  say("zeroed", block, kBytes, "dropped");
  errno = 12345;
  drop("zeroed", block);
  check(errno == 12345, "free keeps errno");
  // Allocated in a thread that has recorded nothing yet, freed by another thread.
  void* theirs = nullptr;
  std::thread([&] { theirs = opaque(std::malloc(kBytes + 7)); }).join();
  say("theirs", theirs, kBytes + 7, "dropped");
  drop("theirs", theirs);
}

// A child may free blocks that it has from its parent; they are not in its rows.
void forking() {
  void* const parents = make("parents", [] { return std::malloc(kBytes); });
  void* const keptByParent = make("kept", [] { return std::malloc(kBytes + 1); });
  say("parents", parents, kBytes, "dropped");
  say("kept", keptByParent, kBytes + 1, "kept");
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    drop("parents", parents);
    makeAndDrop("childs", kBytes + 2, [] { return std::malloc(kBytes + 2); });
    say("left", make("left", [] { return std::malloc(kBytes + 3); }), kBytes + 3, "kept");
    std::fflush(stdout);
    execl("/proc/self/exe", "memory_calls", "oddities", nullptr);
    _exit(1);
  }
  int status = 0;
  check(waitpid(child, &status, 0) == child && status == 0, "the child");
  drop("parents", parents);
}

// Freed in a way that no probe sees, and allocated again.
void unseen() {
  void* const first = make("first", [] { return std::malloc(kBytes); });
  say("first", first, kBytes, "unseen");
  __libc_free(first);
  void* const second = make("second", [] { return std::malloc(kBytes); });
  check(second == first, "the same place");
  say("second", second, kBytes, "dropped");
  drop("second", second);
}

}  // namespace

int main(int, char** argv) {
  const struct {
    const char* name;
    void (*run)();
  } cases[] = {{"each", each},
               {"small", small},
               {"resizing", resizing},
               {"oddities", oddities},
               {"forking", forking},
               {"unseen", unseen}};
  for (const auto& one : cases) {
    if (std::strcmp(argv[1], one.name) == 0) {
      one.run();
      return 0;
    }
  }
  return 2;
}
