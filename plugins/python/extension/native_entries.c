/* The entries described in native.h. */
#define _GNU_SOURCE /* strdup */
#include "plugins/python/extension/native.h"

#include <stdlib.h>
#include <string.h>

/* A C function of Python takes one to five words, depending on its flags, and returns one. An entry
 * passes five on, whatever they contain, and its number as the sixth. Each entry has 1 <<
 * kEntryShift bytes. */
typedef void* (*Function)(void*, void*, void*, void*, void*);
void* sondeCallNative(void* a, void* b, void* c, void* d, void* e, uint32_t number);
extern const char sondeNativeEntries[];

#if defined(__x86_64__)
#define ENTRY "endbr64\n movl $sondeNumber, %r9d\n jmp sondeCallNative\n"
#elif defined(__aarch64__)
#define ENTRY "hint #34 /* bti c */\n mov w5, #sondeNumber\n b sondeCallNative\n"
#endif

#ifdef ENTRY
enum { kEntries = 16384, kEntryShift = 4 };
static uint32_t entryCount;
__asm__(
    ".pushsection .text\n"
    ".hidden sondeNativeEntries\n"
    ".hidden sondeCallNative\n"
    ".p2align 4\n"
    "sondeNativeEntries:\n"
    ".cfi_startproc\n"
    ".set sondeNumber, 0\n"
    ".rept 16384\n"
    ".p2align 4\n" ENTRY
    ".set sondeNumber, sondeNumber + 1\n"
    ".endr\n"
    ".cfi_endproc\n"
    ".popsection\n");
#else /* none for this processor */
enum { kEntries = 1, kEntryShift = 0 };
static uint32_t entryCount = kEntries;
const char sondeNativeEntries[1];
#endif

static struct {
  Function original;
  char* name;
  uint32_t nameId; /* 0: not interned yet */
  uint32_t category;
} entries[kEntries];

static uint32_t nameOf(uint32_t number) {
  if (entries[number].nameId == 0)
    entries[number].nameId = sondeApi->intern(entries[number].name, strlen(entries[number].name));
  return entries[number].nameId;
}

/* NOLINTNEXTLINE(readability-function-size): five words and the number, as above */
void* sondeCallNative(void* a, void* b, void* c, void* d, void* e, uint32_t number) {
  const Function original = entries[number].original;
  void* result;
  uint64_t begin;
  if (passesNative) {
    ++passed;
    return original(a, b, c, d, e);
  }
  if (!sondeApi->enabled(SONDE_PROBE_PYTHON)) {
    if (calibrates)
      sondeApi->unrecorded(SONDE_PROBE_PYTHON, 1);
    return original(a, b, c, d, e);
  }
  begin = sondeApi->now();
  result = original(a, b, c, d, e);
  sondeApi->native_call(nameOf(number), entries[number].category, begin, sondeApi->now());
  return result;
}

bool isEntry(const void* function) {
  return (uintptr_t)function - (uintptr_t)sondeNativeEntries < (uintptr_t)kEntries << kEntryShift;
}

bool areEntriesLeft(void) {
  return entryCount < kEntries;
}

const void* newEntry(const void* original, PyObject* name, uint32_t category) {
  const uint32_t number = entryCount;
  PyObject* const bytes = PyUnicode_AsUTF8String(name);
  char* const text = bytes == NULL ? NULL : strdup(PyBytes_AsString(bytes));
  PyErr_Clear();
  Py_XDECREF(bytes);
  if (text == NULL)
    return NULL;
  memcpy(&entries[number].original, &original, sizeof original);
  entries[number].name = text;
  entries[number].category = category;
  ++entryCount;
  return sondeNativeEntries + ((size_t)number << kEntryShift);
}
