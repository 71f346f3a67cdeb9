/* What the parts of the Python extension `_sonde` share: opening and closing scopes on behalf of
 * Python code, names as ids, and regions. Everything here runs with the GIL held, but for what
 * entry.c says; `sondeApi` is NULL when no recording library is in the process, and then nothing
 * but argument checks happens. */
#pragma once

#define PY_SSIZE_T_CLEAN
#define SONDE_NO_LOOKUP /* module.c does that for all */
#include "plugins/api/sonde.h"

#include <Python.h>
#include <stdbool.h>

/* Has had this value and calling convention since 3.7 and is in the stable ABI from 3.10 on; the
 * headers hide it from a limited API of 3.9. */
#ifndef METH_FASTCALL
#define METH_FASTCALL 0x0080
#endif

/* The table of the recording library, found once when the module is loaded. */
extern const sonde_api_table* sondeApi;
/* Whether it is new enough to have `member`. */
#define API_HAS(member) (sondeApi->size > offsetof(sonde_api_table, member))

/* names.c: the id of a str; 0 when it has none. Never raises. */
uint32_t nameId(PyObject* text);

/* numbers.c. False: an exception is set. NULL was not given and leaves the second as it is. A count
 * is an integer, or another number without what is behind its point. */
bool numberOf(PyObject* given, double* number);
bool countOf(PyObject* given, uint64_t* count);
/* 1: the iteration has this number; 0: it is too great to be kept; -1: it is no integer, and
 * TypeError is set. */
int iterationNumber(PyObject* given, int64_t* number);
/* After a conversion that failed: clears the exception and notes `text` in the trace, since a
 * program that runs without Sonde must not fail under it. False when it is no Exception: the
 * program is being interrupted. */
bool forgiven(const char* key, const char* text);

/* One opening of a scope. */
typedef struct Entry {
  struct Entry* below; /* the opening before this one of the same scope object */
  uint64_t stamp;      /* grows with every opening in the process */
  uint32_t token;
  uint32_t thread;
  uint32_t generation; /* of the process: a fork makes the openings of the parent void */
} Entry;

typedef struct EntryName {
  uint32_t kind;
  uint32_t name;
  uint32_t probe;
} EntryName;

/* entry.c: open and close on the calling thread. An entry that another thread opened is closed by
 * that thread at its next opening or closing; one from before a fork is forgotten. */
void entryBegin(Entry* entry, EntryName what);
void entryEnd(const Entry* entry);
bool entryIsMine(const Entry* entry); /* opened by this thread of this process */
uint32_t threadNumber(void);          /* of the calling thread, from 1 on; never used again */
int entrySetUp(void);                 /* 0, or -1 when fork could not be watched */

/* region.c: see the type's documentation. The hooks are called by entry.c around every opening and
 * closing. */
enum { kRegions = 4 };
typedef struct Waiting { /* regions that want to hear when the scope has ended */
  PyObject* regions[kRegions];
  int count;
} Waiting;
extern int openRegions;
void regionsBegan(const Entry* entry);
void regionsEnding(const Entry* entry, Waiting* waiting);
void regionsEnded(const Entry* entry, Waiting* waiting);
void regionsForget(void); /* in a forked child */
PyObject* regionType(void);
/* module.c: what the hooks counted of the current iteration, unless the program counts itself. */
void torchCount(uint64_t samples, uint64_t tokens);
bool regionIsOpen(PyObject* region);          /* by this thread of this process; NULL is none */
void regionEndsWhenSettled(PyObject* region); /* now, or its listener is told */

/* mask.c: a run that switches probes off and on (`sonde run --calibrate`). */
extern bool calibrates;
/* Calls of native functions pass without being recorded, but counted in `passed`; inside of an
 * iteration alone. */
extern bool passesNative;
extern uint32_t passed;
void maskSetUp(void);
/* An iteration has begun, and has its number; it is about to end. */
void maskBegan(void);
void maskEnds(void);
void maskForget(void); /* in a forked child */
/* Methods of the module. calibrated(): the probes that are switched. on_mask(function): has it
 * called with those that are off now, when others are than before. follow_mask(): looks whether
 * that is so. */
PyObject* calibratedProbes(PyObject* module, PyObject* nothing);
PyObject* onMask(PyObject* module, PyObject* function);
PyObject* followMask(PyObject* module, PyObject* nothing);

/* scope.c */
PyObject* scopeType(void);
/* A new scope object; with no recording library the one that does nothing. `number` may be NULL. */
PyObject* scopeNew(uint32_t kind, PyObject* text, uint32_t probe, const int64_t* number);
/* Called with (kind, True, number or None) where the program begins an iteration or an evaluation,
 * but for what stepsPassIteration() takes, and with (kind, False, None) where an evaluation ends;
 * NULL: nobody. */
extern PyObject* scopeWatcher;
int scopeSetUp(void);

/* scope.c, for scopes that Python code never sees as context managers: opens a new one; closes it;
 * its kind, 0 of what is no scope. */
void scopeEnter(PyObject* scope);
void scopeLeave(PyObject* scope);
uint32_t scopeKind(PyObject* scope);

/* steps.c: what is known of the training. Requires of the next two: stepsAreThere(). */
bool stepsAreThere(void);
bool stepsHaveGradients(void); /* torch.is_grad_enabled(); false also with an exception */
bool stepsAreSkipped(void);    /* a graph is being made: nothing is to be recorded; likewise */
/* Whether an event of a training step changes nothing of what is known, nor, beside that, a forward
 * or a step. */
bool stepsAreQuiet(void);
bool stepsTakeForward(void);
bool stepsTakeStep(void);
void stepsBackwardEnded(void); /* Requires: stepsAreThere(). */
/* The program begins an iteration of its own, which may have a number, and not its first: true
 * where the watcher would only take note of the number, which is done then. */
bool stepsPassIteration(const int64_t* number);
PyObject* stepsType(void); /* a new reference */

/* inside.c: methods of the module for PyTorch's hooks. inside(module), inside_backward() and
 * inside_step(name) give an entered scope where that is all there is to do, else None; leave(scope)
 * ends it. Adds the type Steps, `here`, and `outermost`: what inside() knows of modules that are
 * called as the outermost ones and have been trained, by id: (weak reference, what becomes
 * here.root, what becomes here.names, name). here.names is a dictionary by id: (weak reference,
 * name). */
PyObject* inside(PyObject* module, PyObject* called);
PyObject* insideBackward(PyObject* module, PyObject* unused);
PyObject* insideStep(PyObject* module, PyObject* name);
PyObject* leaveInside(PyObject* module, PyObject* scope);
void insideLeave(PyObject* scope, uint32_t kind); /* leave(), also of a scope that is let go */
int insideSetUp(PyObject* module);                /* 0, or -1 with an exception */

/* Calls `function` and drops whatever it raises; an exception that is set stays set. Takes over
 * `arguments`. Whether it returned something true. */
bool callQuietly(PyObject* function, PyObject* arguments);

/* elements.c: a method of the module. torch_element(name, address, kind, when=0): a scalar with the
 * value that is in memory, of a float ('f'), double ('d'), half ('e') or bfloat16 ('b'), now or as
 * of torch_now(). */
PyObject* torchElement(PyObject* module, PyObject* arguments);

/* native.c: methods of the module. watch_native(function, name, category): whether its calls are
 * recorded from now on; False when they are already, or it is no native function. OverflowError
 * when there are too many. */
PyObject* watchNative(PyObject* module, PyObject* arguments);
/* Whether it knows this Python's objects. */
PyObject* canWatchNative(PyObject* module, PyObject* nothing);
/* For gc.callbacks: records each collection. */
PyObject* collects(PyObject* module, PyObject* arguments);
