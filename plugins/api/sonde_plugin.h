/* External probes: a shared object that records into Sonde's traces.
 *
 *   #include <sonde/sonde_plugin.h>
 *
 *   static const sonde_plugin_host* host;
 *   static int start(const sonde_plugin_host* given) { host = given; return 0; }
 *
 *   const sonde_plugin sonde_plugin_descriptor = {
 *       SONDE_PLUGIN_HEAD, "toysim", "simulator", "1.0", "calls of libtoysim", start, NULL, NULL};
 *
 * `sonde run --plugin ./libtoysim_probe.so -- COMMAND` preloads it, after Sonde's own libraries,
 * into every program that Sonde records. So it may intercept functions of other libraries by
 * defining them, or record from callbacks that it registers. Pure C without
 * dependencies; docs/plugins.md explains an example.
 *
 * Versions: `abi` is the version for which a plugin was built. Sonde refuses another version before
 * the job starts. Within a version, Sonde only adds fields at the end of the host's structure:
 * check `host->size` before you call a function that a later header has added.
 *
 * Mistakes: Sonde checks all arguments. An invalid call is ignored and counted under the
 * plugin's name in the trace's table `loss`; the job is not affected. If a callback throws a C++
 * exception, Sonde switches the plugin off, with a note. Sonde cannot protect the job from a plugin
 * that writes to foreign memory.
 */
#ifndef SONDE_SONDE_PLUGIN_H
#define SONDE_SONDE_PLUGIN_H

/* NOLINTBEGIN(modernize-*,readability-identifier-naming): it is C as well */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SONDE_PLUGIN_ABI 1u
#define SONDE_PLUGIN_EXPORT __attribute__((visibility("default")))

/* Kinds of slices; the numbers are those of the spool format. */
enum {
  SONDE_PLUGIN_PHASE = 1,
  SONDE_PLUGIN_OPERATION = 2,
  SONDE_PLUGIN_DATA_LOAD = 8,
  SONDE_PLUGIN_CHECKPOINT = 9,
  SONDE_PLUGIN_EVALUATION = 10,
  SONDE_PLUGIN_OPERATOR = 12,
  SONDE_PLUGIN_API = 13, /* a call of a library; most plugins record these */
  SONDE_PLUGIN_IO = 15,
  SONDE_PLUGIN_WAIT = 16
};

/* Severity of a note. */
enum { SONDE_PLUGIN_INFO = 1, SONDE_PLUGIN_WARNING = 2, SONDE_PLUGIN_ERROR = 3 };

/* An event that was recorded and may be ended or get arguments; 0: none. */
typedef uint64_t sonde_plugin_event;

/* The functions that Sonde offers a plugin. `start` receives the table; the first argument of each
 * function is the table itself. Valid until the process ends, in forked children too. Read-only.
 *
 * You may call every function from any thread, a signal handler or a forked child, from the call of
 * `start` until `stop` has returned. A function keeps errno, waits for no other thread, allocates
 * nothing and never throws. If a signal handler has interrupted another of these calls on its own
 * thread, its record is left out and counted. No function keeps a pointer that it receives. */
typedef struct sonde_plugin_host sonde_plugin_host;
struct sonde_plugin_host {
  uint32_t abi;  /* SONDE_PLUGIN_ABI of the recording Sonde */
  uint32_t size; /* bytes of this structure */

  /* Returns the id of a text of `length` bytes (at most 16 KiB, UTF-8). Names and keys are passed
   * as ids. The id is the same for the same bytes, and valid in this process and its forked
   * children. Keep it: looking up a text takes longer than recording. 0: the text is empty, or
   * there is no room for it; recording with 0 counts as a mistake. Plugins may fill three quarters
   * of a process's table of 49,152 texts. */
  uint32_t (*intern)(const sonde_plugin_host* host, const char* text, size_t length);

  /* Whether anything is recorded now. 0 while recording is paused, off, outside the --capture
   * selection, or while --calibrate has switched plugins off. Costs a load and a test; call it
   * before work that only serves a record. While it returns 0, scopes, calls, marks and values are
   * left out; that is not a mistake. Notes are still written. */
  int (*enabled)(const sonde_plugin_host* host);

  /* The current time of the recorder's clock, for `call`. In ticks, not ns: only for passing back.
   */
  uint64_t (*now)(const sonde_plugin_host* host);

  /* Opens a slice of this kind on the calling thread, with name `name`. Everything that the thread
   * records until its `end` is inside it. Scopes of a thread should nest. A thread can have at most
   * 128 open scopes, including those of other probes; further ones are dropped and counted
   * (`depth`). */
  sonde_plugin_event (*begin)(const sonde_plugin_host* host, uint32_t kind, uint32_t name);

  /* Closes the scope. Call it on the thread that began it, from the same plugin; 0 is ignored. */
  void (*end)(const sonde_plugin_host* host, sonde_plugin_event scope);

  /* A slice that the calling thread has just finished; both times are from `now`. Writes one
   * record, while `begin` and `end` write two: best for calls without inner records. */
  sonde_plugin_event (*call)(
      const sonde_plugin_host* host, uint32_t kind, uint32_t name, uint64_t begin, uint64_t end);

  /* Marks an instant in the timeline. */
  sonde_plugin_event (*mark)(const sonde_plugin_host* host, uint32_t name);

  /* Adds an argument to an open scope, or to the last record of the thread. `key`: an id from
   * `intern`. Ignores arguments for event 0. A text is copied, at most 16 KiB, and uses a place in
   * the table of texts. */
  void (*argument_int)(const sonde_plugin_host* host,
                       sonde_plugin_event of,
                       uint32_t key,
                       int64_t value);
  void (*argument_double)(const sonde_plugin_host* host,
                          sonde_plugin_event of,
                          uint32_t key,
                          double value);
  void (*argument_text)(const sonde_plugin_host* host,
                        sonde_plugin_event of,
                        uint32_t key,
                        const char* text,
                        size_t length);

  /* Returns the id of a counter of this process with its unit ("bytes", "ns", "" for a plain
   * number); texts end with a zero. Returns the same id for the same name and unit. 0: no room, or
   * all plugins together already have 1024 counters. */
  uint32_t (*counter)(const sonde_plugin_host* host, const char* name, const char* unit);

  /* The counter has this value, which must be finite, from now on. Any number of threads may call.
   */
  void (*value)(const sonde_plugin_host* host, uint32_t counter, double value);

  /* A line for readers of the trace (table `note`), for example that a library's version is unknown
   * or a device is missing. `sonde run` prints warnings and errors at the end. At most 100 per
   * process. The text ends with a zero. */
  void (*note)(const sonde_plugin_host* host, uint32_t severity, const char* text);
};

/* The descriptor of a plugin: the only object that it must export. It must be constant and
 * initialised by the compiler, because Sonde reads it from the file without running any code. Texts
 * end with a zero inside their arrays. */
typedef struct sonde_plugin {
  uint32_t abi;  /* SONDE_PLUGIN_ABI */
  uint32_t size; /* sizeof(sonde_plugin) */

  char name[32];     /* names it in tables: a-z, 0-9, - and _, a letter first; none of Sonde's */
  char category[32]; /* slice.category of its records, same rules; empty: its name */
  char version[16];
  char description[128]; /* one line */

  /* Called before main, on its thread, after all libraries and static objects of the program have
   * been initialised; a wrapper may be called earlier. Not called in a process that Sonde does not
   * record; called even while recording is paused. A result other than 0 means that the plugin does
   * not record in this process. May take time, but the job waits. Required. */
  int (*start)(const sonde_plugin_host* host);

  /* Called at exit or the return from main, on that thread, after the handlers that the program
   * registered with atexit. Other threads may still run; their later records count as mistakes. Not
   * called if the process ends by _exit, abort, a signal or exec. Also called in each forked child
   * that exits. NULL: not needed. */
  void (*stop)(void);

  /* Called in each child of fork, before fork returns there; the parent's threads are gone. NULL:
   * not needed. */
  void (*forked)(void);
} sonde_plugin;

/* The first two fields. */
#define SONDE_PLUGIN_HEAD SONDE_PLUGIN_ABI, (uint32_t)sizeof(sonde_plugin)

extern SONDE_PLUGIN_EXPORT const sonde_plugin sonde_plugin_descriptor;

#ifdef __cplusplus
}
#endif

/* NOLINTEND(modernize-*,readability-identifier-naming) */
#endif
