/* The usual case of what PyTorch's hooks see of a training step: its scopes are opened and closed,
 * and nothing changes of what is known of the training. It comes millions of times, so it is here;
 * whatever changes something, hooks/training.py decides, on the same state: the type `Steps` is the
 * base of its class, and `here` tells what the calling thread is in. */
#include "plugins/python/extension/extension.h"

#include <structmember.h>

/* See hooks/training.py for what these mean. */
typedef struct Steps {
  PyObject_HEAD PyObject* iteration; /* Regions */
  PyObject* micro;
  PyObject* evaluation;
  PyObject* gradients; /* torch.is_grad_enabled */
  PyObject* skips;     /* whether nothing is to be recorded, since a graph is being made */
  long long given;
  unsigned int home; /* the number of the thread that trains */
  unsigned long long samples;
  unsigned long long tokens;
  int suspended;
  int backwards;
  char overridden, proven, inference, stepped, accumulates;
} Steps;

static Steps* steps; /* the latest; it lives as long as the process */
static PyObject* outermost;
static PyObject *forwardText, *backwardText, *trainingText, *dictText;

/* What a thread is in. */
typedef struct Here {
  PyObject* root;   /* what is known of the outermost module that is called; NULL: there is none */
  PyObject* names;  /* of the modules inside of it; NULL: nothing here knows them */
  PyObject* due;    /* the collections of tensors that the call is looked at for */
  PyObject* around; /* the forward around it, of enterOutermost() */
  PyObject* own;    /* borrowed: its own scope, of the same */
  int backward;     /* backward passes: recomputation calls modules again */
  bool stepping;    /* in step() of an optimiser */
} Here;

static _Thread_local Here here;

/* ---- the state of the training ---- */

static bool isHome(const Steps* state) {
  return state->home == threadNumber();
}

static bool isTrue(PyObject* question) {
  PyObject* const answer = question == NULL ? NULL : PyObject_CallFunctionObjArgs(question, NULL);
  const bool found = answer != NULL && PyObject_IsTrue(answer) == 1;
  Py_XDECREF(answer);
  return found;
}

/* An event of a training step, Training.event(), would change nothing. */
static bool isQuiet(void) {
  return steps != NULL && isHome(steps) && steps->suspended == 0 && !steps->stepped &&
         steps->proven && !steps->inference && !regionIsOpen(steps->evaluation) &&
         (steps->overridden ||
          (regionIsOpen(steps->iteration) && (!steps->accumulates || regionIsOpen(steps->micro))));
}

/* Nor would a forward, which after a backward of the same iteration says that these add up. */
static bool isForwardQuiet(void) {
  return isQuiet() &&
         (steps->backwards == 0 || steps->accumulates || !regionIsOpen(steps->iteration));
}

static PyObject* atHome(PyObject* self, PyObject* unused) {
  (void)unused;
  return PyBool_FromLong(isHome((Steps*)self));
}

static PyObject* settles(PyObject* self, PyObject* known) {
  ((Steps*)self)->home = known == Py_True ? threadNumber() : 0;
  Py_RETURN_NONE;
}

static PyObject* backwardEnded(PyObject* self, PyObject* unused) {
  (void)unused;
  if (isHome((Steps*)self)) {
    ++((Steps*)self)->backwards;
    regionEndsWhenSettled(((Steps*)self)->micro);
  }
  Py_RETURN_NONE;
}

/* Whether a step of the optimiser that makes iterations ends none, since the program marks them,
 * and there is nothing to count in it. */
static PyObject* stepPasses(PyObject* self, PyObject* unused) {
  const Steps* const state = (Steps*)self;
  (void)unused;
  return PyBool_FromLong(state->overridden && isHome(state) && state->samples == 0 &&
                         state->tokens == 0);
}

bool stepsPassIteration(const int64_t* number) {
  if (steps == NULL || !steps->overridden || !isHome(steps))
    return false;
  steps->given = number == NULL ? steps->given + 1 : *number;
  return true;
}

static PyObject* stepsNew(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  PyObject* const made = PyType_GenericNew(type, arguments, keywords);
  if (made != NULL) {
    Py_INCREF(made);
    Py_XDECREF((PyObject*)steps);
    steps = (Steps*)made;
  }
  return made;
}

static PyMemberDef stepsMembers[] = {
    {"iteration", T_OBJECT, offsetof(Steps, iteration), 0, NULL},
    {"micro", T_OBJECT, offsetof(Steps, micro), 0, NULL},
    {"evaluation", T_OBJECT, offsetof(Steps, evaluation), 0, NULL},
    {"gradients", T_OBJECT, offsetof(Steps, gradients), 0, NULL},
    {"skips", T_OBJECT, offsetof(Steps, skips), 0, NULL},
    {"given", T_LONGLONG, offsetof(Steps, given), 0, NULL},
    {"samples", T_ULONGLONG, offsetof(Steps, samples), 0, NULL},
    {"tokens", T_ULONGLONG, offsetof(Steps, tokens), 0, NULL},
    {"suspended", T_INT, offsetof(Steps, suspended), 0, NULL},
    {"backwards", T_INT, offsetof(Steps, backwards), 0, NULL},
    {"overridden", T_BOOL, offsetof(Steps, overridden), 0, NULL},
    {"proven", T_BOOL, offsetof(Steps, proven), 0, NULL},
    {"inference", T_BOOL, offsetof(Steps, inference), 0, NULL},
    {"stepped", T_BOOL, offsetof(Steps, stepped), 0, NULL},
    {"accumulates", T_BOOL, offsetof(Steps, accumulates), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyMethodDef stepsMethods[] = {
    {"at_home", atHome, METH_NOARGS, "Whether this is the thread that trains."},
    {"settles", settles, METH_O, "True: this is the thread that trains; False: none is known."},
    {"backward_ended", backwardEnded, METH_NOARGS, "The outermost backward of a thread has ended."},
    {"step_passes",
     stepPasses,
     METH_NOARGS,
     "The step of the optimiser that makes iterations changes nothing."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot stepsSlots[] = {
    {Py_tp_new, (void*)stepsNew},
    {Py_tp_members, stepsMembers},
    {Py_tp_methods, stepsMethods},
    {0, NULL},
};

static PyType_Spec stepsSpec = {
    "sonde._sonde.Steps", sizeof(Steps), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, stepsSlots};

/* ---- what the thread is in, as the attributes of `here` ---- */

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

/* What a dictionary by id has of the module, borrowed: a tuple of `size` that begins with a weak
 * reference. NULL: it is not there, or another one had this address. */
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

/* Its attribute `training` is True, past what the program's class makes of reading it. */
static bool isTraining(PyObject* called) {
  PyObject* const own = PyObject_GenericGetAttr(called, dictText);
  const bool found =
      own != NULL && PyDict_Check(own) && PyDict_GetItemWithError(own, trainingText) == Py_True;
  Py_XDECREF(own);
  return found;
}

/* NULL, also without an exception: this is for Python to decide. */
static PyObject* enterOutermost(PyObject* called) {
  PyObject* const found = known(outermost, called, 4);
  PyObject* around = NULL;
  PyObject* own;
  if (found == NULL || here.backward != 0 || steps == NULL || !isTraining(called) ||
      isTrue(steps->skips))
    return NULL;
  if (isTrue(steps->gradients)) {
    if (!isForwardQuiet())
      return NULL;
    around = enter(SONDE_FORWARD, forwardText);
  }
  own = enter(SONDE_MODULE, PyTuple_GetItem(found, 3));
  if (own == NULL) {
    Py_XDECREF(around);
    return NULL;
  }
  here.root = PyTuple_GetItem(found, 1);
  here.names = PyTuple_GetItem(found, 2);
  Py_INCREF(here.root);
  Py_INCREF(here.names);
  here.around = around;
  here.own = own;
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

static PyObject* orNone(PyObject* scope) {
  if (scope != NULL)
    return scope;
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
  PyObject* scope;
  (void)module;
  (void)unused;
  if (!isRecorded() || here.backward != 0 || !isQuiet() || isTrue(steps->skips))
    return orNone(NULL);
  scope = enter(SONDE_BACKWARD, backwardText);
  if (scope != NULL)
    ++here.backward;
  return orNone(scope);
}

PyObject* insideStep(PyObject* module, PyObject* name) {
  PyObject* scope;
  (void)module;
  if (!isRecorded() || here.stepping || !PyUnicode_Check(name) ||
      !(steps != NULL && (regionIsOpen(steps->iteration) || isQuiet())) || isTrue(steps->skips))
    return orNone(NULL);
  scope = enter(SONDE_OPTIMIZER, name);
  here.stepping = scope != NULL;
  return orNone(scope);
}

PyObject* leaveInside(PyObject* module, PyObject* scope) {
  const uint32_t kind = scopeKind(scope);
  (void)module;
  if (kind == 0) {
    PyErr_SetString(PyExc_TypeError, "leave(scope)");
    return NULL;
  }
  if (scope == here.own) {
    leaveOutermost(scope);
    Py_RETURN_NONE;
  }
  if (kind == SONDE_BACKWARD)
    --here.backward;
  else if (kind == SONDE_OPTIMIZER)
    here.stepping = false;
  scopeLeave(scope);
  if (kind == SONDE_BACKWARD)
    return backwardEnded((PyObject*)steps, NULL);
  Py_RETURN_NONE;
}

int stepsSetUp(PyObject* module) {
  PyObject* const type = PyType_FromSpec(&stepsSpec);
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
