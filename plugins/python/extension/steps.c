/* The state of the training, as far as inside.c needs it. The type `Steps` is the base of the class
 * Training in hooks/training.py. That class documents the attributes and handles the unusual cases.
 */
#include "plugins/python/extension/extension.h"

#include <structmember.h>

/* hooks/training.py documents these. */
typedef struct Steps {
  PyObject_HEAD PyObject* iteration; /* Regions */
  PyObject* micro;
  PyObject* evaluation;
  PyObject* gradients; /* torch.is_grad_enabled */
  PyObject* skips;     /* whether to record nothing, because a graph is being built */
  long long given;
  unsigned int home; /* the number of the thread that trains */
  unsigned long long samples;
  unsigned long long tokens;
  int suspended;
  int backwards;
  char overridden, proven, inference, stepped, accumulates;
} Steps;

static Steps* steps; /* the latest; it lives as long as the process */

static bool isHome(const Steps* state) {
  return state->home == threadNumber();
}

static bool isTrue(PyObject* question) {
  PyObject* const answer = question == NULL ? NULL : PyObject_CallFunctionObjArgs(question, NULL);
  const bool found = answer != NULL && PyObject_IsTrue(answer) == 1;
  Py_XDECREF(answer);
  return found;
}

bool stepsAreThere(void) {
  return steps != NULL;
}

bool stepsHaveGradients(void) {
  return isTrue(steps->gradients);
}

bool stepsAreSkipped(void) {
  return isTrue(steps->skips);
}

bool stepsAreQuiet(void) {
  return steps != NULL && isHome(steps) && steps->suspended == 0 && !steps->stepped &&
         steps->proven && !steps->inference && !regionIsOpen(steps->evaluation) &&
         (steps->overridden ||
          (regionIsOpen(steps->iteration) && (!steps->accumulates || regionIsOpen(steps->micro))));
}

/* A forward after a backward of the same iteration means that gradients accumulate. */
bool stepsTakeForward(void) {
  return stepsAreQuiet() &&
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

bool stepsTakeStep(void) {
  return steps != NULL && (regionIsOpen(steps->iteration) || stepsAreQuiet());
}

static PyObject* backwardEnded(PyObject* self, PyObject* unused) {
  (void)unused;
  if (isHome((Steps*)self)) {
    ++((Steps*)self)->backwards;
    regionEndsWhenSettled(((Steps*)self)->micro);
  }
  Py_RETURN_NONE;
}

/* Whether a step of the optimiser that makes iterations ends none, because the program marks them,
 * and has nothing to count. */
static PyObject* stepPasses(PyObject* self, PyObject* unused) {
  const Steps* const state = (Steps*)self;
  (void)unused;
  return PyBool_FromLong(state->overridden && isHome(state) && state->samples == 0 &&
                         state->tokens == 0);
}

void stepsBackwardEnded(void) {
  Py_DECREF(backwardEnded((PyObject*)steps, NULL));
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
    {"settles",
     settles,
     METH_O,
     "Sets the thread that trains: True: this one; False: none is known."},
    {"backward_ended", backwardEnded, METH_NOARGS, "The outermost backward of a thread has ended."},
    {"step_passes",
     stepPasses,
     METH_NOARGS,
     "Whether the step of the primary optimiser changes nothing."},
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

PyObject* stepsType(void) {
  return PyType_FromSpec(&stepsSpec);
}
