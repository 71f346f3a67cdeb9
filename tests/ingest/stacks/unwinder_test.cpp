// Unwinds copies of this program's own stacks.
#include "analysis/ingest/stacks/unwinder.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <ucontext.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace sonde::ingest {
namespace {

struct Copy {
  std::vector<std::uint64_t> registers;
  std::vector<std::byte> stack;
};

std::uintptr_t stackTop() {
  pthread_attr_t attributes;
  void* base = nullptr;
  std::size_t size = 0;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &base, &size);
  pthread_attr_destroy(&attributes);
  return reinterpret_cast<std::uintptr_t>(base) + size;
}

// Also copies what an address sanitizer put between a stack's variables.
[[gnu::no_sanitize("address")]] void copyBytes(const volatile std::byte* from,
                                               std::vector<std::byte>& to) {
  for (std::size_t at = 0; at < to.size(); ++at)
    to[at] = from[at];
}

Copy copyOf(const ucontext_t& context, std::size_t most = 1 << 20) {
  const auto& from = context.uc_mcontext.gregs;
  Copy copy;
  for (const int at : {REG_RAX,
                       REG_RDX,
                       REG_RCX,
                       REG_RBX,
                       REG_RSI,
                       REG_RDI,
                       REG_RBP,
                       REG_RSP,
                       REG_R8,
                       REG_R9,
                       REG_R10,
                       REG_R11,
                       REG_R12,
                       REG_R13,
                       REG_R14,
                       REG_R15,
                       REG_RIP})
    copy.registers.push_back(static_cast<std::uint64_t>(from[at]));
  const std::uint64_t pointer = copy.registers[kStackPointer];
  copy.stack.resize(std::min<std::size_t>(stackTop() - pointer, most));
  copyBytes(reinterpret_cast<const volatile std::byte*>(pointer), copy.stack);
  return copy;
}

Copy gCopy;

extern "C" __attribute__((noinline)) void sondeTestInner() {
  ucontext_t context;
  getcontext(&context);
  gCopy = copyOf(context);
}

extern "C" __attribute__((noinline)) int sondeTestMiddle(int depth) {
  int below = 0;
  if (depth > 0)
    below = sondeTestMiddle(depth - 1);
  else
    sondeTestInner();
  asm volatile("" : "+r"(below));
  return below + 1;
}

extern "C" __attribute__((noinline)) void sondeTestOuter() {
  volatile int sum = sondeTestMiddle(3);
  (void)sum;
}

CodeMap mapOfSelf() {
  std::ifstream maps("/proc/self/maps");
  CodeMap map;
  map.update(parseMaps(std::string(std::istreambuf_iterator<char>(maps), {})));
  return map;
}

std::vector<std::string> namesOf(CodeMap& map, const Unwound& unwound) {
  std::vector<std::string> names;
  for (const std::uint64_t address : unwound.addresses) {
    const MappedCode* code = map.find(address);
    const CodeFunction* function = code == nullptr || code->file == nullptr
                                       ? nullptr
                                       : code->file->functionAt(address - code->bias);
    names.push_back(function == nullptr ? "?" : function->name);
  }
  return names;
}

TEST(Unwinder, GivesTheCallsOfAThreadFromItsCopy) {
  CodeMap map = mapOfSelf();
  Unwinder unwinder(map);
  Unwound unwound;
  std::thread([] { sondeTestOuter(); }).join();
  unwinder.unwind({gCopy.registers, gCopy.stack, gCopy.registers[kStackPointer]}, unwound);
  const auto names = namesOf(map, unwound);
  ASSERT_GE(names.size(), 8U);
  EXPECT_EQ("sondeTestInner", names[0]);
  for (std::size_t at = 1; at <= 4; ++at)
    EXPECT_EQ("sondeTestMiddle", names[at]);
  EXPECT_EQ("sondeTestOuter", names[5]);
  EXPECT_TRUE(unwound.complete);
}

}  // namespace
}  // namespace sonde::ingest
