/* The module `_sonde`: the functions of the package and those for the PyTorch hooks. */
#include "plugins/api/sonde.h" /* before the next, so that the library is looked up here */
#include "plugins/python/extension/extension.h"

/* glibc 2.34 gave these a new version. With the old one the extension also loads on glibc 2.28. */
#if defined(__x86_64__) && defined(__GLIBC__)
__asm__(".symver dlsym,dlsym@GLIBC_2.2.5");
__asm__(".symver dlerror,dlerror@GLIBC_2.2.5");
#elif defined(__aarch64__) && defined(__GLIBC__)
__asm__(".symver dlsym,dlsym@GLIBC_2.17");
__asm__(".symver dlerror,dlerror@GLIBC_2.17");
#endif

const sonde_api_table* sondeApi;

bool callQuietly(PyObject* function, PyObject* arguments) {
  PyObject *kind, *value, *trace, *result;
  bool truth;
  PyErr_Fetch(&kind, &value, &trace);
  result = arguments == NULL ? NULL : PyObject_CallObject(function, arguments);
  truth = result != NULL && PyObject_IsTrue(result) == 1;
  Py_XDECREF(result);
  Py_XDECREF(arguments);
  PyErr_Restore(kind, value, trace);
  return truth;
}

/* `@sonde.operation` without parentheses: wraps the function in a scope with its name. */
static PyObject* decorateBare(uint32_t kind, PyObject* function) {
  PyObject* name = PyObject_GetAttrString(function, "__qualname__");
  PyObject* scope = NULL;
  PyObject* result = NULL;
  if (name != NULL && PyUnicode_Check(name))
    scope = scopeNew(kind, name, SONDE_PROBE_ANNOTATION, NULL);
  if (scope != NULL)
    result = PyObject_CallFunctionObjArgs(scope, function, NULL);
  else if (!PyErr_Occurred())
    PyErr_SetString(PyExc_TypeError, "sonde: __qualname__ is not a str");
  Py_XDECREF(name);
  Py_XDECREF(scope);
  return result;
}

static PyObject* named(uint32_t kind, PyObject* name) {
  if (PyUnicode_Check(name))
    return scopeNew(kind, name, SONDE_PROBE_ANNOTATION, NULL);
  if (PyCallable_Check(name))
    return decorateBare(kind, name);
  PyErr_SetString(PyExc_TypeError, "sonde: a scope's name must be a str");
  return NULL;
}

static PyObject* operation(PyObject* module, PyObject* name) {
  (void)module;
  return named(SONDE_OPERATION, name);
}

static PyObject* phase(PyObject* module, PyObject* name) {
  (void)module;
  return named(SONDE_PHASE, name);
}

static PyObject* evaluation(PyObject* module, PyObject* arguments, PyObject* keywords) {
  static char* names[] = {"name", NULL};
  PyObject* name = NULL;
  PyObject* result;
  (void)module;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|O:evaluation", names, &name))
    return NULL;
  if (name != NULL)
    return named(SONDE_EVALUATION, name);
  name = PyUnicode_InternFromString("evaluation");
  result = name == NULL ? NULL : named(SONDE_EVALUATION, name);
  Py_XDECREF(name);
  return result;
}

static PyObject* iteration(PyObject* module, PyObject* arguments, PyObject* keywords) {
  static char* names[] = {"number", NULL};
  PyObject* number = NULL;
  PyObject* name;
  PyObject* result;
  int64_t value = 0;
  int known = 0;
  (void)module;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|O:iteration", names, &number))
    return NULL;
  if (number != NULL && number != Py_None) {
    if (PyCallable_Check(number))
      return decorateBare(SONDE_ITERATION, number);
    known = iterationNumber(number, &value);
    if (known < 0)
      return NULL;
  }
  name = PyUnicode_InternFromString("iteration");
  if (name == NULL)
    return NULL;
  result = scopeNew(SONDE_ITERATION, name, SONDE_PROBE_ANNOTATION, known ? &value : NULL);
  Py_DECREF(name);
  return result;
}

static PyObject* scalar(PyObject* module, PyObject* arguments) {
  PyObject* name;
  PyObject* number;
  double value = 0;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "UO:scalar", &name, &number))
    return NULL;
  if (sondeApi == NULL || !sondeApi->enabled(SONDE_PROBE_ANNOTATION))
    Py_RETURN_NONE;
  if (numberOf(number, &value))
    sondeApi->scalar(nameId(name), value);
  else if (!forgiven("sonde.scalar",
                     "a value given to sonde.scalar is not a number; it was not recorded"))
    return NULL;
  Py_RETURN_NONE;
}

static PyObject* mark(PyObject* module, PyObject* name) {
  (void)module;
  if (!PyUnicode_Check(name)) {
    PyErr_SetString(PyExc_TypeError, "sonde: a mark's name must be a str");
    return NULL;
  }
  if (sondeApi != NULL)
    sondeApi->mark(nameId(name), SONDE_PROBE_ANNOTATION);
  Py_RETURN_NONE;
}

static void metadatum(PyObject* key, PyObject* value) {
  PyObject* text = PyObject_Str(value);
  if (text != NULL)
    sondeApi->metadata(0, nameId(key), nameId(text));
  PyErr_Clear();
  Py_XDECREF(text);
}

static PyObject* metadata(PyObject* module, PyObject* arguments, PyObject* keywords) {
  PyObject* key = NULL;
  PyObject* value = NULL;
  Py_ssize_t position = 0;
  (void)module;
  if (PyTuple_Size(arguments) != 0 && !PyArg_ParseTuple(arguments, "UO:metadata", &key, &value))
    return NULL;
  if (sondeApi == NULL)
    Py_RETURN_NONE;
  if (key != NULL)
    metadatum(key, value);
  while (keywords != NULL && PyDict_Next(keywords, &position, &key, &value))
    metadatum(key, value);
  Py_RETURN_NONE;
}

static bool isInfoForgiven(void) {
  return forgiven("sonde.iteration_info",
                  "a value given to sonde.iteration_info is not a number, or is below zero; it was "
                  "not recorded");
}

static int infoGiven;

static PyObject* iterationInfo(PyObject* module, PyObject* arguments, PyObject* keywords) {
  static char* names[] = {"samples", "tokens", "flops", NULL};
  PyObject* given[] = {NULL, NULL, NULL};
  uint64_t samples = 0;
  uint64_t tokens = 0;
  double flops = 0;
  (void)module;
  if (!PyArg_ParseTupleAndKeywords(
          arguments, keywords, "|OOO:iteration_info", names, &given[0], &given[1], &given[2]))
    return NULL;
  infoGiven = 1;
  if (sondeApi == NULL || !sondeApi->enabled(SONDE_PROBE_ANNOTATION))
    Py_RETURN_NONE;
  if (!(countOf(given[0], &samples) || isInfoForgiven()) ||
      !(countOf(given[1], &tokens) || isInfoForgiven()) ||
      !(numberOf(given[2], &flops) || isInfoForgiven()))
    return NULL;
  sondeApi->iteration_info(samples, tokens, flops);
  Py_RETURN_NONE;
}

/* ---- for the hooks ---- */

static PyObject* torchScope(PyObject* module, PyObject* const* arguments, Py_ssize_t count) {
  (void)module;
  if (count != 2 || !PyUnicode_Check(arguments[1])) {
    PyErr_SetString(PyExc_TypeError, "torch_scope(kind, name)");
    return NULL;
  }
  return scopeNew(
      (uint32_t)PyLong_AsUnsignedLongMask(arguments[0]), arguments[1], SONDE_PROBE_TORCH, NULL);
}

static PyObject* torchEnabled(PyObject* module, PyObject* unused) {
  (void)module;
  (void)unused;
  return PyBool_FromLong(sondeApi != NULL && sondeApi->enabled(SONDE_PROBE_TORCH));
}

/* For torch_element: the time of a value that can only be read later. 0: an older library. */
static PyObject* torchNow(PyObject* module, PyObject* nothing) {
  (void)module;
  (void)nothing;
  return PyLong_FromUnsignedLongLong(sondeApi != NULL && API_HAS(scalar_at) ? sondeApi->now() : 0);
}

void torchCount(uint64_t samples, uint64_t tokens) {
  if ((samples != 0 || tokens != 0) && sondeApi != NULL && !infoGiven &&
      sondeApi->enabled(SONDE_PROBE_TORCH))
    sondeApi->iteration_info(samples, tokens, 0.0);
}

static PyObject* torchWork(PyObject* module, PyObject* arguments) {
  unsigned long long samples;
  unsigned long long tokens;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "KK", &samples, &tokens))
    return NULL;
  torchCount(samples, tokens);
  Py_RETURN_NONE;
}

static PyObject* hint(PyObject* module, PyObject* arguments) {
  enum { kMaxMembers = 1024 };
  int32_t ranks[kMaxMembers];
  const char* key;
  PyObject* members;
  Py_ssize_t count;
  Py_ssize_t i;
  (void)module;
  if (PyTuple_Size(arguments) == 0) {
    if (sondeApi != NULL)
      sondeApi->communicator_hint(NULL, NULL, 0);
    Py_RETURN_NONE;
  }
  if (!PyArg_ParseTuple(arguments, "sO", &key, &members))
    return NULL;
  count = PySequence_Size(members);
  for (i = 0; i < count && i < kMaxMembers; ++i) {
    PyObject* member = PySequence_GetItem(members, i);
    ranks[i] = member == NULL ? -1 : (int32_t)PyLong_AsLong(member);
    Py_XDECREF(member);
    if (PyErr_Occurred())
      return NULL;
  }
  if (sondeApi != NULL && count <= kMaxMembers)
    sondeApi->communicator_hint(key, ranks, (int32_t)count);
  Py_RETURN_NONE;
}

static PyObject* watch(PyObject* module, PyObject* watcher) {
  PyObject* const previous = scopeWatcher;
  (void)module;
  Py_INCREF(watcher);
  scopeWatcher = watcher;
  Py_XDECREF(previous);
  Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"operation",
     operation,
     METH_O,
     "operation(name)\n--\n\nAn algorithmic operation: `with operation('rollout'):`."},
    {"phase",
     phase,
     METH_O,
     "phase(name)\n--\n\nA phase of the program: warm-up, training, evaluation."},
    {"iteration",
     (PyCFunction)(void (*)(void))iteration,
     METH_VARARGS | METH_KEYWORDS,
     "iteration(number=None)\n--\n\nOne iteration; replaces those that Sonde detects by itself."},
    {"evaluation",
     (PyCFunction)(void (*)(void))evaluation,
     METH_VARARGS | METH_KEYWORDS,
     "evaluation(name='evaluation')\n--\n\nAn evaluation; no iteration is open inside."},
    {"scalar",
     scalar,
     METH_VARARGS,
     "scalar(name, value)\n--\n\nRecords a value of the current iteration."},
    {"mark", mark, METH_O, "mark(name)\n--\n\nMarks an instant in the timeline."},
    {"metadata",
     (PyCFunction)(void (*)(void))metadata,
     METH_VARARGS | METH_KEYWORDS,
     "metadata(key, value) or metadata(key=value, ...): records facts about the run, which every "
     "report shows."},
    {"iteration_info",
     (PyCFunction)(void (*)(void))iterationInfo,
     METH_VARARGS | METH_KEYWORDS,
     "iteration_info(samples=0, tokens=0, flops=0.0)\n--\n\nRecords the amount of work in the "
     "current iteration."},
    {"torch_scope", (PyCFunction)(void (*)(void))torchScope, METH_FASTCALL, NULL},
    {"torch_enabled", torchEnabled, METH_NOARGS, NULL},
    {"inside", inside, METH_O, NULL},
    {"inside_backward", insideBackward, METH_NOARGS, NULL},
    {"inside_step", insideStep, METH_O, NULL},
    {"leave", leaveInside, METH_O, NULL},
    {"torch_element", torchElement, METH_VARARGS, NULL},
    {"torch_now", torchNow, METH_NOARGS, NULL},
    {"torch_work", torchWork, METH_VARARGS, NULL},
    {"communicator_hint", hint, METH_VARARGS, NULL},
    {"watch", watch, METH_O, NULL},
    {"calibrated", calibratedProbes, METH_NOARGS, NULL},
    {"on_mask", onMask, METH_O, NULL},
    {"follow_mask", followMask, METH_NOARGS, NULL},
    {"watch_native", watchNative, METH_VARARGS, NULL},
    {"can_watch_native", canWatchNative, METH_NOARGS, NULL},
    {"collects", collects, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                        "_sonde",
                                        "Annotations for Sonde; see the package sonde.",
                                        -1,
                                        functions,
                                        NULL,
                                        NULL,
                                        NULL,
                                        NULL};

PyMODINIT_FUNC PyInit__sonde(void) {
  PyObject* module;
  sondeApi = sonde_table();
  if (scopeSetUp() != 0 || regionType() == NULL)
    return NULL;
  if (sondeApi != NULL && entrySetUp() != 0)
    return PyErr_NoMemory();
  maskSetUp();
  module = PyModule_Create(&definition);
  if (module == NULL)
    return NULL;
  Py_INCREF(scopeType());
  Py_INCREF(regionType());
  if (PyModule_AddObject(module, "Scope", scopeType()) != 0 ||
      PyModule_AddObject(module, "Region", regionType()) != 0 ||
      PyModule_AddIntConstant(module, "recording", sondeApi != NULL) != 0 ||
      insideSetUp(module) != 0) {
    Py_DECREF(module);
    return NULL;
  }
  return module;
}
