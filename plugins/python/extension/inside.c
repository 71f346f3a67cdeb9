/* The common case of PyTorch's hooks in a training step: opens and closes the step's scopes without
 * changing the state of the training (steps.c). It is in C because it happens millions of times;
 * the hooks handle everything else. `here` tells both what the calling thread is in. */
#include "plugins/python/extension/extension.h"

static PyObject* outermost;
static PyObject *forwardText, *backwardText, *trainingText, *dictText;

/* The modules and passes that a thread is in. */
typedef struct Here {
  PyObject* root;   /* facts about the outermost called module; NULL: none */
  PyObject* names;  /* of the modules inside it; NULL: unknown here */
  PyObject* due;    /* the tensor collections for which the call is examined */
  PyObject* around; /* the forward around it, from enterOutermost() */
  PyObject* own;    /* borrowed: its own scope, from the same */
  int backward;     /* backward passes: recomputation calls modules again */
  bool stepping;    /* in step() of an optimiser */
} Here;

static _Thread_local Here here;

/* ---- the attributes of `here` ---- */

static PyObject* getObject(PyObject* self, void* offset) {
  PyObject* const found = *(PyObject**)((char*)&here + (size_t)offset);
  (void)self;
  if (found == NULL)
    Py_RETURN_NONE;
  Py_INCREF(found);
  return found;
}

static int setObject(PyObject* self, PyObject* value, void* offset) {
  PyObject** const place = (PyObject**)((char*)&here + (size_t)offset);
  PyObject* const before = *place;
  (void)self;
  *place = value == Py_None ? NULL : value;
  Py_XINCREF(*place);
  Py_XDECREF(before);
  return 0;
}

static PyObject* getBackward(PyObject* self, void* unused) {
  (void)self;
  (void)unused;
  return PyLong_FromLong(here.backward);
}

static int setBackward(PyObject* self, PyObject* value, void* unused) {
  (void)self;
  (void)unused;
  here.backward = value == NULL ? 0 : (int)PyLong_AsLong(value);
  return PyErr_Occurred() ? -1 : 0;
}

static PyObject* getStepping(PyObject* self, void* unused) {
  (void)self;
  (void)unused;
  return PyBool_FromLong(here.stepping);
}

static int setStepping(PyObject* self, PyObject* value, void* unused) {
  (void)self;
  (void)unused;
  here.stepping = value == Py_True;
  return 0;
}

static PyGetSetDef hereProperties[] = {
    {"root", getObject, setObject, NULL, (void*)offsetof(Here, root)},
    {"names", getObject, setObject, NULL, (void*)offsetof(Here, names)},
    {"due", getObject, setObject, NULL, (void*)offsetof(Here, due)},
    {"backward", getBackward, setBackward, NULL, NULL},
    {"stepping", getStepping, setStepping, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot hereSlots[] = {{Py_tp_getset, hereProperties}, {0, NULL}};
static PyType_Spec hereSpec = {
    "sonde._sonde.Here", sizeof(PyObject), 0, Py_TPFLAGS_DEFAULT, hereSlots};

/* ---- modules ---- */

/* Returns a dictionary's entry for the module, borrowed: a tuple of `size` that begins with a weak
 * reference. NULL: no entry, or it belongs to another object that had this address. */
static PyObject* known(PyObject* byId, PyObject* called, Py_ssize_t size) {
  PyObject* const key = PyLong_FromVoidPtr(called);
  PyObject* const found = key == NULL ? NULL : PyDict_GetItemWithError(byId, key);
  Py_XDECREF(key);
  if (found == NULL || !PyTuple_Check(found) || PyTuple_Size(found) != size ||
      PyWeakref_GetObject(PyTuple_GetItem(found, 0)) != called)
    return NULL;
  return found;
}

static PyObject* enter(uint32_t kind, PyObject* name) {
  PyObject* const scope = scopeNew(kind, name, SONDE_PROBE_TORCH, NULL);
  if (scope != NULL)
    scopeEnter(scope);
  return scope;
}

/* Whether its attribute `training` is True. Bypasses the attribute access that the program's class
 * may define. */
static bool isTraining(PyObject* called) {
  PyObject* const own = PyObject_GenericGetAttr(called, dictText);
  const bool found =
      own != NULL && PyDict_Check(own) && PyDict_GetItemWithError(own, trainingText) == Py_True;
  Py_XDECREF(own);
  return found;
}

/* Python code is called before anything is entered, because it may raise or let other threads run.
 */
static PyObject* enterKnown(PyObject* entry, PyObject* called) {
  PyObject* around = NULL;
  PyObject* own;
  bool hasGradients;
  if (here.backward != 0 || !stepsAreThere() || !isTraining(called) || stepsAreSkipped() ||
      PyErr_Occurred())
    return NULL;
  hasGradients = stepsHaveGradients();
  if (PyErr_Occurred() || (hasGradients && !stepsTakeForward()))
    return NULL;
  if (hasGradients)
    around = enter(SONDE_FORWARD, forwardText);
  own = PyErr_Occurred() ? NULL : enter(SONDE_MODULE, PyTuple_GetItem(entry, 3));
  if (own == NULL) {
    Py_XDECREF(around);
    return NULL;
  }
  here.root = PyTuple_GetItem(entry, 1);
  here.names = PyTuple_GetItem(entry, 2);
  Py_INCREF(here.root);
  Py_INCREF(here.names);
  here.around = around;
  here.own = own;
  return own;
}

/* NULL, even without an exception: Python code must decide. */
static PyObject* enterOutermost(PyObject* called) {
  PyObject* const found = known(outermost, called, 4);
  PyObject* own;
  if (found == NULL)
    return NULL;
  Py_INCREF(found); /* another thread may remove it meanwhile */
  own = enterKnown(found, called);
  Py_DECREF(found);
  return own;
}

static void leaveOutermost(PyObject* own) {
  PyObject* const around = here.around;
  here.own = here.around = NULL;
  Py_CLEAR(here.root);
  Py_CLEAR(here.names);
  scopeLeave(own);
  if (around != NULL)
    scopeLeave(around);
  Py_XDECREF(around);
}

/* Returns None if there is no scope, and drops exceptions of the query. An exception that
 * interrupts the program continues. */
static PyObject* orNone(PyObject* scope) {
  if (scope != NULL)
    return scope;
  if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception))
    return NULL;
  PyErr_Clear();
  Py_RETURN_NONE;
}

static bool isRecorded(void) {
  return sondeApi != NULL && sondeApi->enabled(SONDE_PROBE_TORCH);
}

PyObject* inside(PyObject* module, PyObject* called) {
  PyObject* found;
  (void)module;
  if (!isRecorded())
    Py_RETURN_NONE;
  if (here.root == NULL)
    return orNone(enterOutermost(called));
  found = here.names == NULL ? NULL : known(here.names, called, 2);
  return orNone(found == NULL ? NULL : enter(SONDE_MODULE, PyTuple_GetItem(found, 1)));
}

/* ---- backward() and step() ---- */

PyObject* insideBackward(PyObject* module, PyObject* unused) {
  PyObject* scope = NULL;
  (void)module;
  (void)unused;
  if (isRecorded() && here.backward == 0 && stepsAreQuiet() && !stepsAreSkipped() &&
      !PyErr_Occurred())
    scope = enter(SONDE_BACKWARD, backwardText);
  here.backward += scope != NULL;
  return orNone(scope);
}

PyObject* insideStep(PyObject* module, PyObject* name) {
  PyObject* scope = NULL;
  (void)module;
  if (isRecorded() && !here.stepping && PyUnicode_Check(name) && stepsTakeStep() &&
      !stepsAreSkipped() && !PyErr_Occurred())
    scope = enter(SONDE_OPTIMIZER, name);
  here.stepping = here.stepping || scope != NULL;
  return orNone(scope);
}

void insideLeave(PyObject* scope, uint32_t kind) {
  if (scope == here.own) {
    leaveOutermost(scope);
    return;
  }
  if (kind == SONDE_BACKWARD)
    --here.backward;
  else if (kind == SONDE_OPTIMIZER)
    here.stepping = false;
  scopeLeave(scope);
  if (kind == SONDE_BACKWARD)
    stepsBackwardEnded();
}

PyObject* leaveInside(PyObject* module, PyObject* scope) {
  (void)module;
  if (scopeKind(scope) == 0) {
    PyErr_SetString(PyExc_TypeError, "leave(scope)");
    return NULL;
  }
  insideLeave(scope, scopeKind(scope));
  Py_RETURN_NONE;
}

int insideSetUp(PyObject* module) {
  PyObject* const type = stepsType();
  PyObject* const hereType = PyType_FromSpec(&hereSpec);
  PyObject* const thread = hereType == NULL ? NULL : PyObject_CallFunctionObjArgs(hereType, NULL);
  outermost = PyDict_New();
  forwardText = PyUnicode_InternFromString("forward");
  backwardText = PyUnicode_InternFromString("backward");
  trainingText = PyUnicode_InternFromString("training");
  dictText = PyUnicode_InternFromString("__dict__");
  if (type == NULL || thread == NULL || outermost == NULL || forwardText == NULL ||
      backwardText == NULL || trainingText == NULL || dictText == NULL)
    return -1;
  Py_DECREF(hereType);
  Py_INCREF(outermost);
  return PyModule_AddObject(module, "Steps", type) == 0 &&
                 PyModule_AddObject(module, "here", thread) == 0 &&
                 PyModule_AddObject(module, "outermost", outermost) == 0
             ? 0
             : -1;
}
