/* A run that switches probes off and on: the part of this extension and the hooks. The library
 * silences the probes by itself; this informs those that cost time even when silent. */
#include "plugins/python/extension/extension.h"

bool calibrates;
bool passesNative;
uint32_t passed;

static uint32_t switched; /* the probes that the run switches */
static uint32_t known;    /* the probes that are off, as last reported to the listener */
static PyObject* listener;

void maskSetUp(void) {
  switched = sondeApi != NULL && API_HAS(unrecorded) ? sondeApi->calibrated() : 0;
  calibrates = switched != 0;
}

static void follow(uint32_t masked) {
  if (masked == known)
    return;
  known = masked;
  if (listener != NULL)
    callQuietly(listener, Py_BuildValue("(I)", masked));
}

void maskBegan(void) {
  const uint32_t masked = sondeApi->masked();
  passesNative = (masked >> SONDE_PROBE_PYTHON & 1) != 0;
  follow(masked);
}

/* Call it before the library counts the iteration. Calls between iterations are recorded again. The
 * hooks stay as they are, because the next iteration most likely begins immediately. */
void maskEnds(void) {
  passesNative = false;
  if (passed != 0)
    sondeApi->unrecorded(SONDE_PROBE_PYTHON, passed);
  passed = 0;
}

void maskForget(void) {
  passesNative = false;
  passed = 0;
}

PyObject* calibratedProbes(PyObject* module, PyObject* nothing) {
  (void)module;
  (void)nothing;
  return PyLong_FromUnsignedLong(switched);
}

PyObject* onMask(PyObject* module, PyObject* function) {
  PyObject* const before = listener;
  (void)module;
  Py_INCREF(function);
  listener = function;
  Py_XDECREF(before);
  Py_RETURN_NONE;
}

PyObject* followMask(PyObject* module, PyObject* nothing) {
  (void)module;
  (void)nothing;
  if (calibrates)
    follow(sondeApi->masked());
  Py_RETURN_NONE;
}
