/* A run that switches probes off and on: what this extension and the hooks make of it. The library
 * silences the probes by itself; here those that cost even when they are silent hear of it. */
#include "plugins/python/extension/extension.h"

bool calibrates;
bool passesNative;
uint32_t passed;

static uint32_t switched; /* the probes that the run switches */
static uint32_t known;    /* those that are off, as the listener has been told */
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

/* Before the library takes its count of the iteration. What is called between iterations is
 * recorded again; the hooks stay as they are, since the next iteration most likely begins at once.
 */
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
