/* Regions: scopes that the PyTorch hooks open and close independently (an iteration lasts
 * from one optimiser step to the next), while the program's annotations open and close around them.
 * To keep slices from crossing their parents, a region counts the scopes that its thread opened
 * inside it, and reports these events to its listener:
 *
 * - "enclosing": a scope that was open before the region is about to end; end the region now.
 * - "ended": that scope has ended; reported if the listener returned True at "enclosing".
 * - "settled": the last scope inside has ended, and the hooks have requested this event with
 *   settled().
 *
 * At most kRegions are open at a time. */
#include "collector/wire/iteration_keys.h"
#include "plugins/python/extension/extension.h"

typedef struct Region {
  PyObject_HEAD EntryName what;
  PyObject* listener;
  bool open;
  bool asked;
  int64_t inside;
  Entry entry;
} Region;

int openRegions;
static Region* regions[kRegions]; /* innermost last */
static PyObject* type;
static uint32_t numberKey;
static uint32_t completeKey;

static bool isOpen(const Region* region) {
  return region->open && entryIsMine(&region->entry);
}

void regionsBegan(const Entry* entry) {
  int i;
  for (i = 0; i < openRegions; ++i)
    if (regions[i]->entry.thread == entry->thread)
      ++regions[i]->inside;
}

static void forget(Region* region) {
  int i;
  for (i = 0; i < openRegions && regions[i] != region; ++i) {
  }
  if (i == openRegions)
    return;
  --openRegions;
  for (; i < openRegions; ++i)
    regions[i] = regions[i + 1];
  region->open = false;
  Py_DECREF((PyObject*)region);
}

static void closeRegion(Region* region) {
  const Entry entry = region->entry;
  Py_INCREF((PyObject*)region);
  forget(region);
  if (calibrates && region->what.kind == SONDE_ITERATION)
    maskEnds();
  entryEnd(&entry);
  Py_DECREF((PyObject*)region);
}

static bool tell(Region* region, const char* event) {
  return callQuietly(region->listener, Py_BuildValue("(Os)", (PyObject*)region, event));
}

void regionsEnding(const Entry* entry, Waiting* waiting) {
  bool again;
  int i;
  for (i = openRegions - 1; i >= 0; i = i < openRegions ? i - 1 : openRegions - 1) {
    Region* region = regions[i];
    if (region->entry.thread != entry->thread || region->entry.stamp <= entry->stamp)
      continue;
    Py_INCREF((PyObject*)region);
    again = tell(region, "enclosing");
    if (region->open)
      closeRegion(region);
    if (again && waiting->count < kRegions)
      waiting->regions[waiting->count++] = (PyObject*)region;
    else
      Py_DECREF((PyObject*)region);
  }
}

static void tellWaiting(Waiting* waiting) {
  int i;
  for (i = 0; i < waiting->count; ++i) {
    tell((Region*)waiting->regions[i], "ended");
    Py_DECREF(waiting->regions[i]);
  }
}

void regionsEnded(const Entry* entry, Waiting* waiting) {
  int i;
  for (i = 0; i < openRegions; ++i) {
    Region* region = regions[i];
    if (region->entry.thread == entry->thread && region->entry.stamp < entry->stamp)
      --region->inside;
  }
  for (i = openRegions - 1; i >= 0; i = i < openRegions ? i - 1 : openRegions - 1) {
    Region* region = regions[i];
    if (region->entry.thread != entry->thread || !region->asked || region->inside != 0)
      continue;
    region->asked = false;
    Py_INCREF((PyObject*)region);
    tell(region, "settled");
    Py_DECREF((PyObject*)region);
  }
  tellWaiting(waiting);
}

void regionsForget(void) {
  openRegions = 0; /* the child keeps the references: no Python code runs here */
}

static PyObject* regionNew(PyTypeObject* wanted, PyObject* arguments, PyObject* keywords) {
  static char* names[] = {"kind", "name", "listener", NULL};
  unsigned int kind = 0;
  PyObject* text = NULL;
  PyObject* listener = NULL;
  Region* region;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "IUO", names, &kind, &text, &listener))
    return NULL;
  region = PyObject_New(Region, wanted);
  if (region == NULL)
    return NULL;
  Py_INCREF(listener);
  region->listener = listener;
  region->what.kind = kind;
  region->what.name = sondeApi == NULL ? 0 : nameId(text);
  region->what.probe = SONDE_PROBE_TORCH;
  region->open = false;
  return (PyObject*)region;
}

/* `number` below 0: no number. */
static void openRegion(Region* region, long long number) {
  forget(region); /* still open on a thread that has ended */
  entryBegin(&region->entry, region->what);
  region->open = true;
  region->asked = false;
  region->inside = 0;
  Py_INCREF((PyObject*)region);
  regions[openRegions++] = region;
  if (number >= 0)
    sondeApi->argument_int(region->entry.token, numberKey, number);
  if (calibrates && region->what.kind == SONDE_ITERATION)
    maskBegan();
}

static PyObject* begin(PyObject* self, PyObject* arguments) {
  Region* region = (Region*)self;
  long long number = -1;
  if (!PyArg_ParseTuple(arguments, "|L", &number))
    return NULL;
  if (sondeApi == NULL || isOpen(region) || openRegions == kRegions)
    Py_RETURN_FALSE;
  openRegion(region, number);
  Py_RETURN_TRUE;
}

static PyObject* turn(PyObject* self, PyObject* arguments) {
  Region* region = (Region*)self;
  long long next;
  unsigned long long samples;
  unsigned long long tokens;
  if (!PyArg_ParseTuple(arguments, "LKK", &next, &samples, &tokens))
    return NULL;
  if (!isOpen(region) || region->asked || region->inside != 0)
    Py_RETURN_FALSE;
  torchCount(samples, tokens);
  closeRegion(region);
  openRegion(region, next);
  Py_RETURN_TRUE;
}

static PyObject* end(PyObject* self, PyObject* arguments) {
  Region* region = (Region*)self;
  int complete = 1;
  if (!PyArg_ParseTuple(arguments, "|p", &complete))
    return NULL;
  if (!isOpen(region))
    Py_RETURN_FALSE;
  if (!complete)
    sondeApi->argument_int(region->entry.token, completeKey, 0);
  closeRegion(region);
  Py_RETURN_TRUE;
}

bool regionIsOpen(PyObject* region) {
  return region != NULL && isOpen((Region*)region);
}

static bool isSettled(Region* region) {
  if (!isOpen(region))
    return false;
  region->asked = region->inside != 0;
  return region->inside == 0;
}

void regionEndsWhenSettled(PyObject* region) {
  if (region != NULL && isSettled((Region*)region))
    closeRegion((Region*)region);
}

static PyObject* settled(PyObject* self, PyObject* unused) {
  (void)unused;
  return PyBool_FromLong(isSettled((Region*)self));
}

static PyObject* isOpenHere(PyObject* self, void* unused) {
  (void)unused;
  return PyBool_FromLong(isOpen((Region*)self));
}

static void release(PyObject* self) {
  PyObject* const itsType = (PyObject*)Py_TYPE(self);
  Py_CLEAR(((Region*)self)->listener);
  PyObject_Free(self);
  Py_DECREF(itsType);
}

static PyMethodDef methods[] = {
    {"begin",
     begin,
     METH_VARARGS,
     "Opens the region on this thread; an argument is its number. Returns False if it is already "
     "open."},
    {"end", end, METH_VARARGS, "Closes the region; False marks it as incomplete."},
    {"turn",
     turn,
     METH_VARARGS,
     "turn(number, samples, tokens): ends the region, which had these samples and tokens, and "
     "opens it again with this number. Returns False if it is not open here, or not settled."},
    {"settled",
     settled,
     METH_NOARGS,
     "Whether no scope is open inside; otherwise the listener is notified later."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"is_open",
     isOpenHere,
     NULL,
     "Whether this thread of this process opened the region, and it is open.",
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, (void*)regionNew},
    {Py_tp_dealloc, (void*)release},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {0, NULL},
};

static PyType_Spec spec = {"sonde._sonde.Region", sizeof(Region), 0, Py_TPFLAGS_DEFAULT, slots};

PyObject* regionType(void) {
  if (type == NULL)
    type = PyType_FromSpec(&spec);
  if (type != NULL && sondeApi != NULL) {
    numberKey = sondeApi->intern(SONDE_ITERATION_NUMBER, strlen(SONDE_ITERATION_NUMBER));
    completeKey = sondeApi->intern(SONDE_ITERATION_COMPLETE, strlen(SONDE_ITERATION_COMPLETE));
  }
  return type;
}
