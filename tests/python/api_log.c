/* A recording library for tests: exports sonde_api and appends one line per call to the file
 * $SONDE_TEST_LOG: pid, tid, verb and its arguments, separated by tabs; names are resolved.
 * $SONDE_TEST_OFF: enabled() returns 0. */
#define _GNU_SOURCE
#define SONDE_NO_LOOKUP
#include "plugins/api/sonde.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kNames = 4096, kLine = 1024 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char* names[kNames];
static uint32_t nameCount = 1;
static _Thread_local uint32_t lastToken;

__attribute__((format(printf, 2, 3))) static void line(const char* verb, const char* format, ...) {
  const char* path = getenv("SONDE_TEST_LOG");
  char text[kLine];
  va_list arguments;
  int length;
  int file;
  if (path == NULL)
    return;
  length = snprintf(text, sizeof text, "%d\t%d\t%s\t", (int)getpid(), (int)gettid(), verb);
  va_start(arguments, format);
  length += vsnprintf(text + length, sizeof text - (size_t)length - 1, format, arguments);
  va_end(arguments);
  if (length > (int)sizeof text - 2)
    length = (int)sizeof text - 2;
  text[length++] = '\n';
  file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || write(file, text, (size_t)length) != length)
    abort();
  close(file);
}

static const char* name(uint32_t id) {
  return id < nameCount && id > 0 ? names[id] : "";
}

static uint32_t intern(const char* text, size_t length) {
  uint32_t id;
  pthread_mutex_lock(&mutex);
  for (id = 1; id < nameCount; ++id)
    if (strlen(names[id]) == length && memcmp(names[id], text, length) == 0)
      break;
  if (id == nameCount && nameCount < kNames)
    names[nameCount++] = strndup(text, length);
  pthread_mutex_unlock(&mutex);
  return id < nameCount ? id : 0;
}

static int enabled(uint32_t probe) {
  (void)probe;
  return getenv("SONDE_TEST_OFF") == NULL;
}

static uint32_t begin(uint32_t kind, uint32_t id, uint32_t probe) {
  if (!enabled(probe))
    return 0;
  line("begin", "%u\t%u\t%s\t%u", ++lastToken, kind, name(id), probe);
  return lastToken;
}

static void end(uint32_t token) {
  if (token != 0)
    line("end", "%u", token);
}

static void mark(uint32_t id, uint32_t probe) {
  line("mark", "%s\t%u", name(id), probe);
}
static void scalar(uint32_t id, double value) {
  line("scalar", "%s\t%.17g", name(id), value);
}

/* A clock that counts its readings. */
static uint64_t now(void) {
  static uint64_t readings;
  return __atomic_add_fetch(&readings, 1, __ATOMIC_RELAXED);
}

static void scalarAt(uint32_t id, double value, uint64_t when) {
  line("scalar", "%s\t%.17g\t%llu", name(id), value, (unsigned long long)when);
}

static void info(uint64_t samples, uint64_t tokens, double flops) {
  line("info", "%llu\t%llu\t%.17g", (unsigned long long)samples, (unsigned long long)tokens, flops);
}

static void metadata(uint32_t token, uint32_t key, uint32_t text) {
  line("metadata", "%u\t%s\t%s", token, name(key), name(text));
}

static void argument(uint32_t token, uint32_t key, int64_t value) {
  if (token != 0)
    line("argument", "%u\t%s\t%lld", token, name(key), (long long)value);
}

static void hint(const char* key, const int32_t* ranks, int32_t count) {
  char list[256] = "";
  int used = 0;
  int32_t i;
  for (i = 0; i < count && used < (int)sizeof list - 12; ++i)
    used += snprintf(list + used, sizeof list - (size_t)used, "%s%d", i == 0 ? "" : ",", ranks[i]);
  line("hint", "%s\t%s", key == NULL ? "" : key, list);
}

static uint32_t calibrated(void) {
  return 0;
}

static const sonde_api_table table = {SONDE_API_VERSION,
                                      sizeof(sonde_api_table),
                                      intern,
                                      begin,
                                      end,
                                      mark,
                                      scalar,
                                      info,
                                      metadata,
                                      argument,
                                      enabled,
                                      hint,
                                      now,
                                      scalarAt,
                                      NULL,
                                      NULL,
                                      NULL,
                                      calibrated,
                                      NULL,
                                      NULL};

__attribute__((visibility("default"))) const sonde_api_table* sonde_api(uint32_t version) {
  return version == SONDE_API_VERSION ? &table : NULL;
}
