/* The context manager behind sonde.operation and similar functions. It is entered millions of
 * times, so objects come from a free list and hold the name's id, and `__exit__` takes its three
 * arguments as an array. One object may be entered again while it is open, and from several
 * threads. */
#include "collector/wire/iteration_keys.h"
#include "plugins/python/extension/extension.h"

enum { kFreeScopes = 32 };

typedef struct Scope {
  PyObject_HEAD EntryName what;
  bool hasNumber;
  int64_t number;
  PyObject* text;
  bool isInside; /* scopeEnter() has opened it */
  int open;      /* openings; `top` is the latest */
  Entry top;
} Scope;

PyObject* scopeWatcher;

static PyTypeObject* type;
static PyObject* idle; /* the scope of a process without a recording library */
static Scope* freeScopes[kFreeScopes];
static int freeCount;
static uint32_t numberKey;

static bool isWatched(const Scope* scope) {
  return scopeWatcher != NULL && scope->what.probe == SONDE_PROBE_ANNOTATION &&
         (scope->what.kind == SONDE_ITERATION || scope->what.kind == SONDE_EVALUATION);
}

static Scope* allocate(void) {
  if (freeCount == 0)
    return PyObject_New(Scope, type);
  return (Scope*)PyObject_Init((PyObject*)freeScopes[--freeCount], type);
}

PyObject* scopeNew(uint32_t kind, PyObject* text, uint32_t probe, const int64_t* number) {
  Scope* scope;
  if (sondeApi == NULL) {
    Py_INCREF(idle);
    return idle;
  }
  scope = allocate();
  if (scope == NULL)
    return NULL;
  scope->what.kind = kind;
  scope->what.name = nameId(text);
  scope->what.probe = probe;
  scope->hasNumber = number != NULL;
  scope->number = number != NULL ? *number : 0;
  Py_INCREF(text);
  scope->text = text;
  scope->isInside = false;
  scope->open = 0;
  return (PyObject*)scope;
}

/* Makes room for another opening while one is open. */
static int keepTop(Scope* scope) {
  Entry* kept = PyMem_Malloc(sizeof *kept);
  if (kept == NULL)
    return -1;
  *kept = scope->top;
  scope->top.below = kept;
  return 0;
}

static PyObject* enter(PyObject* self, PyObject* unused) {
  Scope* scope = (Scope*)self;
  (void)unused;
  Py_INCREF(self);
  if (sondeApi == NULL)
    return self;
  if (isWatched(scope) && !(scope->what.kind == SONDE_ITERATION &&
                            stepsPassIteration(scope->hasNumber ? &scope->number : NULL)))
    callQuietly(scopeWatcher,
                scope->hasNumber
                    ? Py_BuildValue("(IOL)", scope->what.kind, Py_True, (long long)scope->number)
                    : Py_BuildValue("(IOO)", scope->what.kind, Py_True, Py_None));
  if (scope->open == 0)
    scope->top.below = NULL;
  else if (keepTop(scope) != 0) {
    Py_DECREF(self);
    return PyErr_NoMemory();
  }
  ++scope->open;
  entryBegin(&scope->top, scope->what);
  if (scope->hasNumber)
    sondeApi->argument_int(scope->top.token, numberKey, scope->number);
  if (calibrates && scope->what.kind == SONDE_ITERATION)
    maskBegan();
  return self;
}

/* Removes the latest opening of this thread from the object, or the latest of all if this thread
 * has none. */
static Entry takeEntry(Scope* scope) {
  Entry taken = scope->top;
  Entry** link = &scope->top.below;
  Entry* found;
  if (scope->open > 1 && !entryIsMine(&scope->top)) {
    while (*link != NULL && !entryIsMine(*link))
      link = &(*link)->below;
    found = *link;
    if (found != NULL) {
      taken = *found;
      *link = found->below;
      PyMem_Free(found);
      --scope->open;
      return taken;
    }
  }
  found = scope->top.below;
  if (found != NULL) {
    scope->top = *found;
    PyMem_Free(found);
  }
  --scope->open;
  return taken;
}

static void leave(Scope* scope) {
  Entry entry;
  if (scope->open == 0)
    return;
  entry = takeEntry(scope);
  if (calibrates && scope->what.kind == SONDE_ITERATION)
    maskEnds();
  entryEnd(&entry);
}

static PyObject* exitScope(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  Scope* scope = (Scope*)self;
  (void)arguments;
  (void)count;
  if (sondeApi != NULL) {
    leave(scope);
    /* The end of an iteration has no listener. */
    if (isWatched(scope) && scope->what.kind != SONDE_ITERATION)
      callQuietly(scopeWatcher, Py_BuildValue("(IOO)", scope->what.kind, Py_False, Py_None));
  }
  Py_RETURN_FALSE;
}

void scopeEnter(PyObject* scope) {
  ((Scope*)scope)->isInside = true;
  ((Scope*)scope)->open = 1;
  ((Scope*)scope)->top.below = NULL;
  entryBegin(&((Scope*)scope)->top, ((Scope*)scope)->what);
}

void scopeLeave(PyObject* scope) {
  ((Scope*)scope)->isInside = false;
  leave((Scope*)scope);
}

uint32_t scopeKind(PyObject* scope) {
  return PyObject_TypeCheck(scope, type) ? ((Scope*)scope)->what.kind : 0;
}

static PyObject* again(PyObject* self, PyObject* unused) {
  const Scope* scope = (const Scope*)self;
  (void)unused;
  return scopeNew(
      scope->what.kind, scope->text, scope->what.probe, scope->hasNumber ? &scope->number : NULL);
}

static PyObject* decorate(PyObject* self, PyObject* arguments, PyObject* keywords) {
  PyObject* function;
  PyObject* module;
  PyObject* make;
  PyObject* result = NULL;
  (void)keywords;
  if (!PyArg_ParseTuple(arguments, "O", &function))
    return NULL;
  module = PyImport_ImportModule("sonde._decorator");
  make = PyObject_GetAttrString(self, "again");
  if (module != NULL && make != NULL)
    result = PyObject_CallMethod(
        module, "decorate", "OOO", make, function, sondeApi == NULL ? Py_False : Py_True);
  Py_XDECREF(module);
  Py_XDECREF(make);
  return result;
}

static void release(PyObject* self) {
  Scope* scope = (Scope*)self;
  if (scope->isInside) /* the program was interrupted before it got to leave() */
    insideLeave(self, scope->what.kind);
  while (scope->open > 0)
    leave(scope);
  Py_CLEAR(scope->text);
  if (freeCount < kFreeScopes)
    freeScopes[freeCount++] = scope;
  else
    PyObject_Free(self);
  Py_DECREF(type); /* an instance of a heap type owns a reference to it */
}

static PyObject* refuse(PyTypeObject* wanted, PyObject* arguments, PyObject* keywords) {
  (void)wanted;
  (void)arguments;
  (void)keywords;
  PyErr_SetString(PyExc_TypeError, "create scopes with sonde.operation and its siblings");
  return NULL;
}

static PyMethodDef methods[] = {
    {"__enter__", enter, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)(void (*)(void))exitScope, METH_FASTCALL, NULL},
    {"again", again, METH_NOARGS, "A new scope like this one."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new,
     (void*)refuse}, /* Py_TPFLAGS_DISALLOW_INSTANTIATION is younger than the limited API of 3.9 */
    {Py_tp_dealloc, (void*)release},
    {Py_tp_methods, methods},
    {Py_tp_call, (void*)decorate},
    {Py_tp_doc,
     (void*)"A scope of the running thread: enter it with `with`, or decorate a function."},
    {0, NULL},
};

static PyType_Spec spec = {"sonde._sonde.Scope", sizeof(Scope), 0, Py_TPFLAGS_DEFAULT, slots};

PyObject* scopeType(void) {
  return (PyObject*)type;
}

int scopeSetUp(void) {
  Scope* nothing;
  type = (PyTypeObject*)PyType_FromSpec(&spec);
  if (type == NULL)
    return -1;
  nothing = PyObject_New(Scope, type);
  if (nothing == NULL)
    return -1;
  memset(&nothing->what, 0, sizeof nothing->what);
  nothing->hasNumber = false;
  nothing->text = NULL;
  nothing->isInside = false;
  nothing->open = 0;
  idle = (PyObject*)nothing;
  if (sondeApi != NULL)
    numberKey = sondeApi->intern(SONDE_ITERATION_NUMBER, strlen(SONDE_ITERATION_NUMBER));
  return 0;
}
