/* Converts numbers of any type that the program passes. */
#include "plugins/python/extension/extension.h"

static void note(const char* key, const char* text) {
  sondeApi->metadata(0, sondeApi->intern(key, strlen(key)), sondeApi->intern(text, strlen(text)));
}

bool forgiven(const char* key, const char* text) {
  if (!PyErr_ExceptionMatches(PyExc_Exception))
    return false;
  PyErr_Clear();
  if (sondeApi != NULL)
    note(key, text);
  return true;
}

int iterationNumber(PyObject* given, int64_t* number) {
  PyObject* integer = PyNumber_Index(given);
  int known = 1;
  if (integer == NULL)
    return -1;
  *number = PyLong_AsLongLong(integer);
  Py_DECREF(integer);
  if (*number == -1 && PyErr_Occurred())
    known =
        forgiven("sonde.iteration", "the number of an iteration is too large; it was not recorded")
            ? 0
            : -1;
  return known;
}

bool numberOf(PyObject* given, double* number) {
  double value;
  if (given == NULL)
    return true;
  value = PyFloat_AsDouble(given);
  if (value == -1.0 && PyErr_Occurred())
    return false;
  *number = value;
  return true;
}

bool countOf(PyObject* given, uint64_t* count) {
  const double kEnd = 18446744073709551616.0; /* 2^64 */
  PyObject* const integer = given == NULL ? NULL : PyNumber_Index(given);
  double number = 0;
  uint64_t value;
  if (integer != NULL) {
    value = PyLong_AsUnsignedLongLong(integer);
    Py_DECREF(integer);
    if (PyErr_Occurred())
      return false;
    *count = value;
    return true;
  }
  if (PyErr_Occurred()) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError))
      return false;
    PyErr_Clear();
  }
  if (!numberOf(given, &number))
    return false;
  if (!(number >= 0 && number < kEnd)) {
    PyErr_SetString(PyExc_ValueError, "not a count");
    return false;
  }
  *count = (uint64_t)number;
  return true;
}
