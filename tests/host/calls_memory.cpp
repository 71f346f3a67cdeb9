// The allocator, and looking symbols up.
#include "tests/host/calls.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

namespace host {
namespace {

constexpr std::size_t kSizes[] = {
    100, 0, 1, 5000, 70000, 1 << 20, 3 << 20, SIZE_MAX, PTRDIFF_MAX, SIZE_MAX - 100};

constexpr std::size_t kKnown = 64;

void*& slot(Context& c) noexcept {
  return c.blocks[c.choose(8, 20)];
}

void mark(void* block, std::size_t bytes) noexcept {
  if (block != nullptr)
    memset(block, 'm', bytes < kKnown ? bytes : kKnown);
}

bool isMarked(const void* block, std::size_t bytes) noexcept {
  for (std::size_t at = 0; at < bytes && at < 1; ++at) {
    if (static_cast<const char*>(block)[at] != 'm')
      return false;
  }
  return true;
}

void drop(void*& at) noexcept {
  free(at);
  at = nullptr;
}

void resultBlock(
    Context& c, void*& at, void* block, std::size_t bytes, std::size_t alignment) noexcept {
  const int error = errno;
  const bool aligned =
      reinterpret_cast<std::uintptr_t>(block) % (alignment == 0 ? 1 : alignment) == 0;
  const bool roomy = block == nullptr || malloc_usable_size(block) >= bytes;
  errno = error;
  c.resultPointer(block, aligned && roomy ? "block" : "bad block");
  mark(block, bytes);
  at = block;
}

void callMalloc(Context& c) {
  void*& at = slot(c);
  drop(at);
  const std::size_t bytes = c.oneOf(kSizes);
  c.callUnguarded("malloc", "%zu", bytes);
  resultBlock(c, at, malloc(bytes), bytes, 16);
}

void callCalloc(Context& c) {
  void*& at = slot(c);
  drop(at);
  const std::size_t bytes = c.oneOf(kSizes);
  const std::size_t count = c.oneOf<std::size_t>({1, 0, 2, SIZE_MAX});
  c.callUnguarded("calloc", "%zu, %zu", count, bytes);
  void* const block = calloc(count, bytes);
  const bool isZero =
      block == nullptr || bytes == 0 || count == 0 || static_cast<const char*>(block)[0] == 0;
  resultBlock(c, at, block, isZero ? count * bytes : SIZE_MAX, 16);
}

void callRealloc(Context& c) {
  void*& at = slot(c);
  const std::size_t bytes = c.oneOf(kSizes);
  c.callUnguarded("realloc", "%s, %zu", at == nullptr ? "null" : "block", bytes);
  void* const block = realloc(at, bytes);
  if (block == nullptr && bytes != 0) {
    c.resultPointer(nullptr, "");
    return;
  }
  c.note(" kept %d", at == nullptr || block == nullptr || isMarked(block, bytes));
  at = nullptr;
  resultBlock(c, at, block, bytes, 16);
}

void callReallocarray(Context& c) {
  void*& at = slot(c);
  const std::size_t bytes = c.oneOf(kSizes);
  const std::size_t count = c.oneOf<std::size_t>({1, 0, 3, SIZE_MAX});
  c.callUnguarded("reallocarray", "%zu, %zu", count, bytes);
  void* const block = reallocarray(at, count, bytes);
  if (block == nullptr && (bytes != 0 && count != 0)) {
    c.resultPointer(nullptr, "");
    return;
  }
  resultBlock(c, at, block, bytes * count, 16);
}

void callFree(Context& c) {
  void*& at = slot(c);
  c.callUnguarded("free", "%s", at == nullptr ? "null" : "block");
  free(at);
  at = nullptr;
  c.result(0);
}

void callPosixMemalign(Context& c) {
  void*& at = slot(c);
  drop(at);
  const std::size_t bytes = c.oneOf(kSizes);
  const std::size_t alignment = c.oneOf<std::size_t>({64, 0, 3, 8, 4096, 1UL << 63, SIZE_MAX});
  c.callUnguarded("posix_memalign", "%zu, %zu", alignment, bytes);
  void* block = nullptr;
  const int result = posix_memalign(&block, alignment, bytes);
  c.result(result);
  c.note("%s",
         block == nullptr                                           ? "null"
         : reinterpret_cast<std::uintptr_t>(block) % alignment == 0 ? "block"
                                                                    : "bad block");
  mark(block, bytes);
  at = block;
}

template <auto kFunction>
void callAligned(Context& c, const char* name) {
  void*& at = slot(c);
  drop(at);
  const std::size_t bytes = c.oneOf(kSizes);
  const std::size_t alignment = c.oneOf<std::size_t>({64, 0, 3, 8, 4096, 1UL << 63, SIZE_MAX});
  c.callUnguarded(name, "%zu, %zu", alignment, bytes);
  void* const block = kFunction(alignment, bytes);
  resultBlock(c, at, block, bytes, (alignment & (alignment - 1)) == 0 ? alignment : 1);
}

template <auto kFunction>
void callPages(Context& c, const char* name) {
  void*& at = slot(c);
  drop(at);
  const std::size_t bytes = c.oneOf(kSizes);
  c.callUnguarded(name, "%zu", bytes);
  resultBlock(c, at, kFunction(bytes), bytes, 4096);
}

void callDlsym(Context& c) {
  const char* const names[] = {
      "getpid", "no_such_symbol", "malloc", "cuptiSubscribe", "", "cuptiNothing", "dlsym"};
  const char* const name = c.oneOf(names, 30);
  void* const handles[] = {RTLD_DEFAULT, RTLD_NEXT};
  void* const handle = c.oneOf(handles);
  c.callUnguarded("dlsym", "%d, %s", handle == RTLD_NEXT, name);
  void* const found = dlsym(handle, name);
  c.resultPointer(found, "symbol");
  c.note("%s", dlerror() == nullptr ? "no error" : "an error");
}

#define HOST_CALL(name, ...)    \
  void name##Call(Context& c) { \
    __VA_ARGS__;                \
  }
HOST_CALL(alignedAlloc, callAligned<aligned_alloc>(c, "aligned_alloc"))
HOST_CALL(memalign, callAligned<memalign>(c, "memalign"))
HOST_CALL(valloc, callPages<valloc>(c, "valloc"))
HOST_CALL(pvalloc, callPages<pvalloc>(c, "pvalloc"))

constexpr NamedCall kCalls[] = {{"malloc", callMalloc, 0},
                                {"calloc", callCalloc, 0},
                                {"realloc", callRealloc, 0},
                                {"reallocarray", callReallocarray, 0},
                                {"free", callFree, 0},
                                {"posix_memalign", callPosixMemalign, 0},
                                {"aligned_alloc", alignedAllocCall, 0},
                                {"memalign", memalignCall, 0},
                                {"valloc", vallocCall, 0},
                                {"pvalloc", pvallocCall, 0},
                                {"dlsym", callDlsym, 0}};

}  // namespace

CallList memoryCalls() noexcept {
  return listOf(kCalls);
}

}  // namespace host
