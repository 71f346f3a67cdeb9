/* Probes from outside: a shared object that records into Sonde's traces.
 *
 *   #include <sonde/sonde_plugin.h>
 *
 *   static const sonde_plugin_host* host;
 *   static int start(const sonde_plugin_host* given) { host = given; return 0; }
 *
 *   const sonde_plugin sonde_plugin_descriptor = {
 *       SONDE_PLUGIN_HEAD, "toysim", "simulator", "1.0", "calls of libtoysim", start, NULL, NULL};
 *
 * `sonde run --plugin ./libtoysim_probe.so -- COMMAND` preloads it, behind Sonde's own libraries,
 * into every program that the recorder goes into. So it may define functions of other libraries and
 * stand in front of them, or record from callbacks that it registers somewhere. Pure C without
 * dependencies; docs/plugins.md walks through an example.
 *
 * Versions: a plugin says in `abi` what it was built for, and Sonde refuses another one before the
 * job starts. Within a version structures only grow at their end; `size` says how much is there.
 *
 * Mistakes: Sonde checks what it is given. A call that cannot be is left out and counted under the
 * plugin's name in the trace's table `loss`; the job never notices. A callback that throws a C++
 * exception switches its plugin off, with a note. Nothing can contain a plugin that writes to
 * memory which is not its own.
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
  SONDE_PLUGIN_API = 13, /* a call of a library: what most plugins record */
  SONDE_PLUGIN_IO = 15,
  SONDE_PLUGIN_WAIT = 16
};

/* Of a note. */
enum { SONDE_PLUGIN_INFO = 1, SONDE_PLUGIN_WARNING = 2, SONDE_PLUGIN_ERROR = 3 };

/* Something that was recorded and may be ended, or said something of; 0: nothing was. */
typedef uint64_t sonde_plugin_event;

/* What Sonde offers a plugin. Handed to `start`; its first argument is always itself. Valid until
 * the process ends, in forked children too. Read-only.
 *
 * Every function may be called from any thread, from signal handlers and in a forked child, between
 * `start` and `stop`; it keeps errno, blocks on no other thread, allocates nothing and never
 * throws. In a signal handler that has interrupted another of these calls on its own thread, the
 * record is left out and counted. No function keeps a pointer that it was given. */
typedef struct sonde_plugin_host sonde_plugin_host;
struct sonde_plugin_host {
  uint32_t abi;  /* SONDE_PLUGIN_ABI of the recording Sonde */
  uint32_t size; /* bytes of this structure */

  /* The id of a text of `length` bytes (at most 16 KiB, UTF-8), by which names and keys are given:
   * the same for the same bytes, valid in this process and its forked children. Keep it: looking a
   * text up takes longer than recording. 0: the text is empty, or there is no room for it;
   * recording with it then counts as a mistake. Plugins may fill three quarters of a process's
   * table of 49,152 texts. */
  uint32_t (*intern)(const sonde_plugin_host* host, const char* text, size_t length);

  /* Whether anything is recorded now: 0 while recording is paused, off, or outside what --capture
   * asks for. A load and a test; worth asking before work that only serves a record. What is
   * recorded while it says 0 is left out, and no mistake. */
  int (*enabled)(const sonde_plugin_host* host);

  /* Now, on the recorder's clock, for `call`. In ticks, which are no ns: only to be handed back. */
  uint64_t (*now)(const sonde_plugin_host* host);

  /* Opens a slice of this kind on the calling thread, named by `name`; what the thread records
   * until its `end` lies inside. Scopes of a thread should nest. At most 128 are open on a thread,
   * those of others included; past it they are dropped and counted (`depth`). */
  sonde_plugin_event (*begin)(const sonde_plugin_host* host, uint32_t kind, uint32_t name);

  /* Closes it. On the thread that began it, and by the plugin that did; 0 is ignored. */
  void (*end)(const sonde_plugin_host* host, sonde_plugin_event scope);

  /* A slice that the calling thread has just finished; both times from `now`. One record, where
   * `begin` and `end` are two: best for calls that say nothing while they run. */
  sonde_plugin_event (*call)(
      const sonde_plugin_host* host, uint32_t kind, uint32_t name, uint64_t begin, uint64_t end);

  /* An instant worth a flag in the timeline. */
  sonde_plugin_event (*mark)(const sonde_plugin_host* host, uint32_t name);

  /* Says something of a scope that is open, or of what the thread recorded last: `key` is an id of
   * `intern`. Arguments of event 0 are ignored. A text is copied, at most 16 KiB, and takes a place
   * in the table of texts. */
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

  /* A counter of this process, with its unit ("bytes", "ns", "" for a mere number); texts end in a
   * zero. The same id for the same name and unit. 0: there is no room, or there are 1024 already,
   * of all plugins. */
  uint32_t (*counter)(const sonde_plugin_host* host, const char* name, const char* unit);

  /* The counter has this value from now on, which is finite. From as many threads as one likes. */
  void (*value)(const sonde_plugin_host* host, uint32_t counter, double value);

  /* A line for whoever reads the trace (table `note`), which `sonde run` shows at the end when it
   * is a warning or an error: that a library's version is unknown, that a device is missing. At
   * most 100 in a process. The text ends in a zero. */
  void (*note)(const sonde_plugin_host* host, uint32_t severity, const char* text);
};

/* What a plugin is. The one thing it exports: constant, filled in by the compiler, since Sonde
 * reads it from the file without running any of its code. Texts end in a zero inside their arrays.
 */
typedef struct sonde_plugin {
  uint32_t abi;  /* SONDE_PLUGIN_ABI */
  uint32_t size; /* sizeof(sonde_plugin) */

  char name[32]; /* by which it is counted: a-z, 0-9, - and _, a letter first; none of Sonde's */
  char category[32]; /* slice.category of what it records, likewise; empty: its name */
  char version[16];
  char description[128]; /* one line */

  /* Before main, on its thread, once all libraries and static objects of the program have been
   * initialised; a wrapper may be called before it. Not called where nothing is recorded. Other
   * than 0: the plugin does not want to record in this process. May take its time, but the job
   * waits. Must be there. */
  int (*start)(const sonde_plugin_host* host);

  /* At exit or the return from main, on that thread, after the handlers that the program gave to
   * atexit: other threads may still run, and what they record afterwards counts as a mistake. Not
   * where the process ends by _exit, abort, a signal or exec; in each forked child that exits, too.
   * NULL: nothing to do. */
  void (*stop)(void);

  /* In each child made by fork, before fork returns there: threads of the parent are gone. NULL:
   * nothing to do. */
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
