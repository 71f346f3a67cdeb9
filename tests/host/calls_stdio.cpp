// libc's streams. libc itself accesses their memory, so they get only valid memory.
#include "tests/host/calls.h"

#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>

extern "C" {
size_t __fread_chk(void* data, size_t room, size_t size, size_t count, FILE* stream);
size_t __fread_unlocked_chk(void* data, size_t room, size_t size, size_t count, FILE* stream);
}

namespace host {
namespace {

constexpr const char* kModes[] = {
    "r+", "r", "w", "a", "a+", "rb", "wx", "re", "r,ccs=none-such", "", "q"};

FILE*& slot(Context& c) noexcept {
  return c.streams[c.choose(4, 40)];
}

// Opens the stream if there is none, with a function other than `name`.
FILE* stream(Context& c) noexcept {
  FILE*& at = slot(c);
  if (at == nullptr) {
    const int which = c.choose(4, 50);
    c.call("fopen", "%d", which);
    at = which == 1   ? fopen("/dev/null", "r+")
         : which == 2 ? tmpfile()
                      : fopen("data", which == 3 ? "a+" : "r+");
    c.resultPointer(at, "stream");
  }
  return at;
}

void closeOld(Context& c, FILE*& at) noexcept {
  if (at == nullptr)
    return;
  c.call("fclose", "%s", "old");
  c.result(fclose(at));
  at = nullptr;
}

template <auto kFunction>
void callFopen(Context& c, const char* name) {
  FILE*& at = slot(c);
  closeOld(c, at);
  Path path = c.path();
  if (path.at == nullptr)
    path = {"", "empty"};
  const char* mode = c.oneOf(kModes, 50);
  c.call(name, "%s, %s", path.name, mode);
  at = kFunction(path.at, mode);
  c.resultPointer(at, "stream");
}

void callFdopen(Context& c) {
  FILE*& at = slot(c);
  closeOld(c, at);
  const int fd = c.fd(Kind::File);
  const char* mode = c.oneOf(kModes, 50);
  c.call("fdopen", "%d, %s", fd, mode);
  at = fdopen(fd, mode);
  c.resultPointer(at, "stream");
}

template <auto kFunction>
void callFreopen(Context& c, const char* name) {
  FILE*& at = slot(c);
  if (at == nullptr)
    at = fopen("data", "r+");
  if (at == nullptr)
    return;
  Path path = c.choose(4, 70) == 1 ? Path{nullptr, "null"} : c.path();
  const char* mode = c.oneOf(kModes, 50);
  c.call(name, "%s, %s", path.name, mode);
  at = kFunction(path.at, mode, at);
  c.resultPointer(at, "stream");
}

void callFclose(Context& c) {
  FILE*& at = slot(c);
  if (at == nullptr && stream(c) == nullptr)
    return;
  if (at == nullptr)
    return;
  c.call("fclose", "%s", "stream");
  c.result(fclose(at));
  at = nullptr;
}

template <auto kFunction>
void callFflush(Context& c, const char* name) {
  FILE* const at = c.choose(5, 80) == 1 ? nullptr : stream(c);
  if (at == nullptr && c.isConcurrent())
    return;
  c.call(name, "%s", at == nullptr ? "null" : "stream");
  c.result(kFunction(at));
}

template <auto kFunction, bool kChecked = false>
void callFread(Context& c, const char* name) {
  FILE* const at = stream(c);
  if (at == nullptr)
    return;
  char data[4096] = {};
  const std::size_t size = c.oneOf<std::size_t>({1, 0, 7, 64});
  const std::size_t count = c.oneOf<std::size_t>({20, 0, 1, 60});
  c.call(name, "%zu, %zu", size, count);
  if constexpr (kChecked)
    c.resultRead(static_cast<long>(kFunction(data, sizeof data, size, count, at)),
                 {data, "", sizeof data});
  else
    c.resultRead(static_cast<long>(kFunction(data, size, count, at)), {data, "", sizeof data});
  c.note("%d %d", feof(at), ferror(at));
  if (c.choose(2) == 0) {
    // The standard requires this between reading and writing.
    c.call("fseek", "%s", "0");
    c.result(fseek(at, 0, SEEK_CUR));
  }
}

template <auto kFunction>
void callFwrite(Context& c, const char* name) {
  FILE* const at = stream(c);
  if (at == nullptr)
    return;
  char data[9000];
  memset(data, 'w', sizeof data);
  const std::size_t size = c.oneOf<std::size_t>({1, 0, 9, 100});
  const std::size_t count = c.oneOf<std::size_t>({20, 0, 1, 90});
  c.call(name, "%zu, %zu", size, count);
  c.result(static_cast<long>(kFunction(data, size, count, at)));
  c.note("%d", ferror(at));
  if (c.choose(3) == 0) {
    c.call("fseek", "%s", "0");
    c.result(fseek(at, 0, SEEK_CUR));
  }
}

#define HOST_CALL(name, ...)    \
  void name##Call(Context& c) { \
    __VA_ARGS__;                \
  }
HOST_CALL(fopen, callFopen<fopen>(c, "fopen"))
HOST_CALL(fopen64, callFopen<fopen64>(c, "fopen64"))
HOST_CALL(freopen, callFreopen<freopen>(c, "freopen"))
HOST_CALL(freopen64, callFreopen<freopen64>(c, "freopen64"))
HOST_CALL(fflush, callFflush<fflush>(c, "fflush"))
HOST_CALL(fflushUnlocked, callFflush<fflush_unlocked>(c, "fflush_unlocked"))
HOST_CALL(fread, callFread<fread>(c, "fread"))
HOST_CALL(freadUnlocked, callFread<fread_unlocked>(c, "fread_unlocked"))
HOST_CALL(freadChecked, (callFread<__fread_chk, true>(c, "__fread_chk")))
HOST_CALL(freadUnlockedChecked, (callFread<__fread_unlocked_chk, true>(c, "__fread_unlocked_chk")))
HOST_CALL(fwrite, callFwrite<fwrite>(c, "fwrite"))
HOST_CALL(fwriteUnlocked, callFwrite<fwrite_unlocked>(c, "fwrite_unlocked"))

constexpr NamedCall kCalls[] = {{"fopen", fopenCall, kAlone},
                                {"fopen64", fopen64Call, kAlone},
                                {"freopen", freopenCall, kAlone},
                                {"freopen64", freopen64Call, kAlone},
                                {"fdopen", callFdopen, kAlone},
                                {"fclose", callFclose, kAlone},
                                {"fflush", fflushCall, kAlone},
                                {"fflush_unlocked", fflushUnlockedCall, kAlone},
                                {"fread", freadCall, kAlone},
                                {"fread_unlocked", freadUnlockedCall, kAlone},
                                {"__fread_chk", freadCheckedCall, kAlone},
                                {"__fread_unlocked_chk", freadUnlockedCheckedCall, kAlone},
                                {"fwrite", fwriteCall, kAlone},
                                {"fwrite_unlocked", fwriteUnlockedCall, kAlone}};

}  // namespace

CallList stdioCalls() noexcept {
  return listOf(kCalls);
}

}  // namespace host
