/* Opens and closes scopes. The recording library requires that a scope ends on its own thread, and
 * knows nothing of Python. But a generator may be resumed, or closed by the garbage collector, on
 * another thread, and a forked child runs the `__exit__` of scopes that its parent opened. */
#include "plugins/python/extension/extension.h"

#include <pthread.h>
#include <stdlib.h>

enum { kDeferred = 64 };

static uint64_t stamps;
static uint32_t generation = 1;
static uint32_t threads;
static _Thread_local uint32_t thisThread;

/* Ends that wait for the thread that began the scope. If the table is full, the scope stays open
 * until the thread ends. */
static struct {
  uint32_t thread;
  uint32_t token;
} deferred[kDeferred];
static int deferredCount;

uint32_t threadNumber(void) {
  if (thisThread == 0)
    thisThread = ++threads;
  return thisThread;
}

/* With hardware counters the library waits for the device at each begin and end, and the device's
 * work may need the GIL. */
static bool waits;

static uint32_t beginScope(EntryName what) {
  PyThreadState* state = waits ? PyEval_SaveThread() : NULL;
  const uint32_t token = sondeApi->begin(what.kind, what.name, what.probe);
  if (state != NULL)
    PyEval_RestoreThread(state);
  return token;
}

static void endScope(uint32_t token) {
  PyThreadState* state = waits ? PyEval_SaveThread() : NULL;
  sondeApi->end(token);
  if (state != NULL)
    PyEval_RestoreThread(state);
}

static void defer(const Entry* entry) {
  if (entry->token == 0 || deferredCount == kDeferred)
    return;
  deferred[deferredCount].thread = entry->thread;
  deferred[deferredCount].token = entry->token;
  ++deferredCount;
}

static void endDeferred(uint32_t thread) {
  int kept = 0;
  int i;
  for (i = 0; i < deferredCount; ++i) {
    if (deferred[i].thread == thread)
      sondeApi->end(deferred[i].token);
    else
      deferred[kept++] = deferred[i];
  }
  deferredCount = kept;
}

void entryBegin(Entry* entry, EntryName what) {
  entry->thread = threadNumber();
  if (deferredCount != 0)
    endDeferred(entry->thread);
  entry->generation = generation;
  entry->stamp = ++stamps;
  entry->token = beginScope(what);
  if (openRegions != 0)
    regionsBegan(entry);
}

void entryEnd(const Entry* entry) {
  Waiting waiting = {.count = 0};
  if (entry->generation != generation)
    return;
  if (entry->thread != threadNumber()) {
    defer(entry);
    return;
  }
  if (deferredCount != 0)
    endDeferred(entry->thread);
  if (openRegions == 0) {
    endScope(entry->token);
    return;
  }
  regionsEnding(entry, &waiting);
  endScope(entry->token);
  regionsEnded(entry, &waiting);
}

bool entryIsMine(const Entry* entry) {
  return entry->generation == generation && entry->thread == threadNumber();
}

static void forked(void) {
  ++generation;
  deferredCount = 0;
  regionsForget();
  maskForget();
}

int entrySetUp(void) {
  const char* const counters = getenv("SONDE_COUNTERS");
  waits = counters != NULL && *counters != '\0';
  return pthread_atfork(NULL, NULL, forked) == 0 ? 0 : -1;
}
