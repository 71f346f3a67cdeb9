/* Shared by the parts of the Python extension `_sonde`: opens and closes scopes for Python code,
 * converts names to ids, and has regions. Everything here runs with the GIL held, except where
 * entry.c says otherwise. `sondeApi` is NULL if no recording library is in the process; the
 * functions then only check arguments. */
#pragma once

#define PY_SSIZE_T_CLEAN
#define SONDE_NO_LOOKUP /* module.c does that for all */
#include "plugins/api/sonde.h"

#include <Python.h>
#include <stdbool.h>

/* Has had this value and calling convention since 3.7; in the stable ABI from 3.10 on. The headers
 * hide it from a limited API of 3.9. */
#ifndef METH_FASTCALL
#define METH_FASTCALL 0x0080
#endif

/* The table of the recording library, found once when the module is loaded. */
extern const sonde_api_table* sondeApi;
/* Whether the table is new enough to have `member`. */
#define API_HAS(member) (sondeApi->size > offsetof(sonde_api_table, member))

/* names.c: returns the id of a str; 0 if it has none. Never raises. */
uint32_t nameId(PyObject* text);

/* numbers.c. False: an exception is set. A NULL argument was not given, and leaves the result
 * unchanged. A count is an integer, or another number without its fraction. */
bool numberOf(PyObject* given, double* number);
bool countOf(PyObject* given, uint64_t* count);
/* 1: the iteration has this number; 0: the number is too large to store; -1: not an integer, and
 * TypeError is set. */
int iterationNumber(PyObject* given, int64_t* number);
/* Call it after a failed conversion: clears the exception and notes `text` in the trace, because a
 * program that runs without Sonde must not fail with it. False if it is not an Exception: the
 * program is being interrupted. */
bool forgiven(const char* key, const char* text);

/* One opening of a scope. */
typedef struct Entry {
  struct Entry* below; /* the previous opening of the same scope object */
  uint64_t stamp;      /* grows with every opening in the process */
  uint32_t token;
  uint32_t thread;
  uint32_t generation; /* of the process: a fork invalidates the parent's openings */
} Entry;

typedef struct EntryName {
  uint32_t kind;
  uint32_t name;
  uint32_t probe;
} EntryName;

/* entry.c: open and close on the calling thread. If another thread opened the entry, that thread
 * closes it at its next opening or closing. An entry from before a fork is forgotten. */
void entryBegin(Entry* entry, EntryName what);
void entryEnd(const Entry* entry);
bool entryIsMine(const Entry* entry); /* opened by this thread of this process */
uint32_t threadNumber(void);          /* of the calling thread, from 1 on; never reused */
int entrySetUp(void);                 /* 0, or -1 if fork cannot be watched */

/* region.c: see the type's documentation. entry.c calls these hooks around every opening and
 * closing. */
enum { kRegions = 4 };
typedef struct Waiting { /* regions to notify when the scope has ended */
  PyObject* regions[kRegions];
  int count;
} Waiting;
extern int openRegions;
void regionsBegan(const Entry* entry);
void regionsEnding(const Entry* entry, Waiting* waiting);
void regionsEnded(const Entry* entry, Waiting* waiting);
void regionsForget(void); /* in a forked child */
PyObject* regionType(void);
/* module.c: the hooks' counts for the current iteration, unless the program counts itself. */
void torchCount(uint64_t samples, uint64_t tokens);
bool regionIsOpen(PyObject* region);          /* by this thread of this process; NULL is none */
void regionEndsWhenSettled(PyObject* region); /* now, or its listener gets "settled" later */

/* mask.c: for a run that switches probes off and on (`sonde run --calibrate`). */
extern bool calibrates;
/* Calls of native functions are not recorded, but counted in `passed`. Only inside an iteration. */
extern bool passesNative;
extern uint32_t passed;
void maskSetUp(void);
/* An iteration has begun and has its number; it is about to end. */
void maskBegan(void);
void maskEnds(void);
void maskForget(void); /* in a forked child */
/* Methods of the module. calibrated() returns the switched probes. on_mask(function) registers a
 * function that is called with the probes that are off now whenever that changes. follow_mask()
 * checks whether it has changed. */
PyObject* calibratedProbes(PyObject* module, PyObject* nothing);
PyObject* onMask(PyObject* module, PyObject* function);
PyObject* followMask(PyObject* module, PyObject* nothing);

/* scope.c */
PyObject* scopeType(void);
/* A new scope object; without a recording library, the object that does nothing. `number` may be
 * NULL. */
PyObject* scopeNew(uint32_t kind, PyObject* text, uint32_t probe, const int64_t* number);
/* Called with (kind, True, number or None) when the program begins an iteration or an evaluation,
 * except where stepsPassIteration() handles it, and with (kind, False, None) when an evaluation
 * ends. NULL: not set. */
extern PyObject* scopeWatcher;
int scopeSetUp(void);

/* scope.c, for scopes that Python code never uses as context managers: opens a new one; closes it;
 * returns its kind, 0 if it is not a scope. */
void scopeEnter(PyObject* scope);
void scopeLeave(PyObject* scope);
uint32_t scopeKind(PyObject* scope);

/* steps.c: the state of the training. The next two require stepsAreThere(). */
bool stepsAreThere(void);
bool stepsHaveGradients(void); /* torch.is_grad_enabled(); false also with an exception */
bool stepsAreSkipped(void);    /* a graph is being built: record nothing; likewise */
/* Whether an event of a training step does not change the state; whether a forward or a step does
 * not. */
bool stepsAreQuiet(void);
bool stepsTakeForward(void);
bool stepsTakeStep(void);
void stepsBackwardEnded(void); /* Requires: stepsAreThere(). */
/* The program begins an iteration of its own, which may have a number, and not its first: returns
 * true if the watcher would only note the number; that is then already done. */
bool stepsPassIteration(const int64_t* number);
PyObject* stepsType(void); /* a new reference */

/* inside.c: methods of the module for PyTorch's hooks. inside(module), inside_backward() and
 * inside_step(name) return an entered scope if nothing else needs to be done, else None;
 * leave(scope) ends it. Adds the type Steps, `here`, and `outermost`: inside()'s knowledge of
 * modules that were called as outermost ones and trained, by id: (weak reference, value for
 * here.root, value for here.names, name). here.names is a dictionary by id: (weak reference, name).
 */
PyObject* inside(PyObject* module, PyObject* called);
PyObject* insideBackward(PyObject* module, PyObject* unused);
PyObject* insideStep(PyObject* module, PyObject* name);
PyObject* leaveInside(PyObject* module, PyObject* scope);
void insideLeave(PyObject* scope, uint32_t kind); /* leave(), also for a scope that is dropped */
int insideSetUp(PyObject* module);                /* 0, or -1 with an exception */

/* Calls `function` and drops any exception that it raises; keeps an exception that was already set.
 * Takes ownership of `arguments`. Returns whether the result was true. */
bool callQuietly(PyObject* function, PyObject* arguments);

/* elements.c: a method of the module. torch_element(name, address, kind, when=0) records a scalar
 * with the value in memory: a float ('f'), double ('d'), half ('e') or bfloat16 ('b'), with the
 * current time or that of torch_now(). */
PyObject* torchElement(PyObject* module, PyObject* arguments);

/* native.c: methods of the module. watch_native(function, name, category) returns whether its calls
 * are recorded from now on; False: they already are, or it is not a native function. OverflowError:
 * too many functions. */
PyObject* watchNative(PyObject* module, PyObject* arguments);
/* Whether it supports this Python's object layouts. */
PyObject* canWatchNative(PyObject* module, PyObject* nothing);
/* For gc.callbacks: records each collection. */
PyObject* collects(PyObject* module, PyObject* arguments);
