#include "plugins/python/extension/native.h"

#include <string.h>

PyObject* watchNative(PyObject* module, PyObject* arguments) {
  PyObject* object;
  PyObject* name;
  unsigned category;
  void** place;
  void* function;
  const void* entry;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "OUI:watch_native", &object, &name, &category))
    return NULL;
  place = areObjectsKnown() ? functionPlace(object) : NULL;
  if (place == NULL)
    Py_RETURN_FALSE;
  memcpy(&function, place, sizeof function);
  if (function == NULL || isEntry(function))
    Py_RETURN_FALSE;
  if (!areEntriesLeft()) {
    PyErr_SetString(PyExc_OverflowError, "too many native functions to watch");
    return NULL;
  }
  entry = newEntry(function, name, category);
  if (entry != NULL)
    memcpy(place, &entry, sizeof entry);
  return PyBool_FromLong(entry != NULL);
}

PyObject* canWatchNative(PyObject* module, PyObject* nothing) {
  (void)module;
  (void)nothing;
  if (sondeApi == NULL || !API_HAS(native_call))
    Py_RETURN_FALSE;
  return PyBool_FromLong(areEntriesLeft() && areObjectsKnown());
}

/* ---- the garbage collector ---- */

static _Thread_local uint64_t collectingSince;

PyObject* collects(PyObject* module, PyObject* arguments) {
  static uint32_t names[4];
  static const char* const texts[4] = {
      "gc generation 0", "gc generation 1", "gc generation 2", "gc"};
  const char* phase;
  PyObject* info;
  PyObject* generation;
  long number;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "sO!:collects", &phase, &PyDict_Type, &info))
    return NULL;
  if (strcmp(phase, "start") == 0) {
    collectingSince = sondeApi->enabled(SONDE_PROBE_PYTHON) ? sondeApi->now() : 0;
    Py_RETURN_NONE;
  }
  if (collectingSince == 0)
    Py_RETURN_NONE;
  generation = PyDict_GetItemString(info, "generation");
  number = generation == NULL ? 3 : PyLong_AsLong(generation);
  PyErr_Clear();
  if (number < 0 || number > 3)
    number = 3;
  if (names[number] == 0)
    names[number] = sondeApi->intern(texts[number], strlen(texts[number]));
  sondeApi->native_call(names[number], SONDE_CATEGORY_PYTHON, collectingSince, sondeApi->now());
  collectingSince = 0;
  Py_RETURN_NONE;
}
