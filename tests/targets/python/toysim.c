/* A Python module with native functions of every calling convention. They take a requested time and
 * count their own calls: the expected results for python_test.py. */
#define _GNU_SOURCE
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { kFunctions = 12 };
static const char* const kNames[kFunctions] = {"spin",
                                               "nothing",
                                               "fast",
                                               "keywords",
                                               "fail",
                                               "call",
                                               "Env.step",
                                               "Env.reset",
                                               "Env.cost",
                                               "Env.__add__",
                                               "Env.make",
                                               "Env.size"};
enum { Spin, Nothing, Fast, Keywords, Fail, Call, Step, Reset, Cost, Add, Make, Size };

/* With the GIL held. */
static struct {
  unsigned long thread;
  long calls;
  long long ns;
} truths[64][kFunctions];

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void spend(long us) {
  const int64_t end = now() + us * 1000;
  while (now() < end) {
  }
}

static void counted(int function, int64_t since) {
  const unsigned long thread = (unsigned long)syscall(SYS_gettid);
  int row;
  for (row = 0; row < 63; ++row)
    if (truths[row][0].thread == 0 || truths[row][0].thread == thread)
      break;
  truths[row][0].thread = thread;
  truths[row][function].calls += 1;
  truths[row][function].ns += now() - since;
}

/* METH_O, which most of the others call. */
static PyObject* spent(int function, PyObject* us) {
  const int64_t since = now();
  const long time = us == NULL ? 0 : PyLong_AsLong(us);
  if (time == -1 && PyErr_Occurred())
    return NULL;
  spend(time);
  counted(function, since);
  return PyLong_FromLong(time + 1);
}

static PyObject* spin(PyObject* self, PyObject* us) {
  (void)self;
  return spent(Spin, us);
}

static PyObject* nothing(PyObject* self, PyObject* none) {
  (void)self;
  (void)none;
  return spent(Nothing, NULL);
}

static PyObject* fast(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  (void)self;
  return spent(Fast, count == 0 ? NULL : arguments[count - 1]);
}

static PyObject* keywords(PyObject* self, PyObject* arguments, PyObject* named) {
  static char* names[] = {"us", "more", NULL};
  PyObject* us = NULL;
  PyObject* more = NULL;
  (void)self;
  if (!PyArg_ParseTupleAndKeywords(arguments, named, "|OO:keywords", names, &us, &more))
    return NULL;
  return spent(Keywords, us);
}

static PyObject* fail(PyObject* self, PyObject* none) {
  (void)self;
  (void)none;
  counted(Fail, now());
  PyErr_SetString(PyExc_RuntimeError, "as told");
  return NULL;
}

static PyObject* call(PyObject* self, PyObject* function) {
  const int64_t since = now();
  PyObject* const result = PyObject_CallObject(function, NULL);
  (void)self;
  counted(Call, since);
  return result;
}

static PyObject* step(PyObject* self, PyObject* us) {
  (void)self;
  return spent(Step, us);
}

static PyObject* reset(PyObject* self, PyObject* none) {
  (void)self;
  (void)none;
  return spent(Reset, NULL);
}

static PyObject* cost(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  (void)self;
  return spent(Cost, count == 0 ? NULL : arguments[0]);
}

static PyObject* add(PyObject* self, PyObject* other) {
  (void)self;
  return spent(Add, other);
}

static PyObject* make(PyObject* type, PyObject* none) {
  (void)none;
  Py_DECREF(spent(Make, NULL));
  return PyObject_CallObject(type, NULL);
}

static PyObject* size(PyObject* self, PyObject* us) {
  (void)self;
  return spent(Size, us);
}

/* {thread's id: {name: (calls, ns)}} */
static PyObject* truth(PyObject* self, PyObject* none) {
  PyObject* const all = PyDict_New();
  int row;
  (void)self;
  (void)none;
  for (row = 0; all != NULL && row < 64 && truths[row][0].thread != 0; ++row) {
    PyObject* const key = PyLong_FromUnsignedLong(truths[row][0].thread);
    PyObject* const each = PyDict_New();
    int function;
    for (function = 0; function < kFunctions; ++function) {
      PyObject* const value =
          Py_BuildValue("(lL)", truths[row][function].calls, truths[row][function].ns);
      if (truths[row][function].calls != 0)
        PyDict_SetItemString(each, kNames[function], value);
      Py_DECREF(value);
    }
    PyDict_SetItem(all, key, each);
    Py_DECREF(key);
    Py_DECREF(each);
  }
  return all;
}

#define CALLABLE(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef envMethods[] = {
    {"step", step, METH_O, "step($self, us, /)\n--\n\nA step of the simulation."},
    {"reset", reset, METH_NOARGS, NULL},
    {"cost", CALLABLE(cost), 0x0080 /* METH_FASTCALL */, NULL},
    {"__add__", add, METH_O | METH_COEXIST, NULL},
    {"make", make, METH_NOARGS | METH_CLASS, NULL},
    {"size", size, METH_O | METH_STATIC, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot envSlots[] = {{Py_tp_methods, envMethods}, {0, NULL}};
static PyType_Spec envSpec = {
    "toysim.Env", sizeof(PyObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, envSlots};

static PyMethodDef functions[] = {
    {"spin", spin, METH_O, "spin(us, /)\n--\n\nTakes so long."},
    {"nothing", nothing, METH_NOARGS, NULL},
    {"fast", CALLABLE(fast), 0x0080 /* METH_FASTCALL */, NULL},
    {"keywords", CALLABLE(keywords), METH_VARARGS | METH_KEYWORDS, NULL},
    {"fail", fail, METH_NOARGS, NULL},
    {"call", call, METH_O, NULL},
    {"truth", truth, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "toysim", NULL, -1, functions, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_toysim(void) {
  PyObject* const module = PyModule_Create(&definition);
  /* Functions that belong to others, as in enumerations. */
  PyObject* const borrowed[] = {PyObject_GetAttrString((PyObject*)&PyBaseObject_Type, "__new__"),
                                PyObject_GetAttrString((PyObject*)&PyUnicode_Type, "upper"),
                                PyObject_GetAttrString((PyObject*)&PyDict_Type, "fromkeys")};
  if (module != NULL) {
    PyModule_AddObject(module, "new_member", borrowed[0]);
    PyModule_AddObject(module, "upper", borrowed[1]);
    PyModule_AddObject(module, "fromkeys", borrowed[2]);
  }
  if (module != NULL && PyModule_AddObject(module, "Env", PyType_FromSpec(&envSpec)) != 0) {
    Py_DECREF(module);
    return NULL;
  }
  return module;
}
