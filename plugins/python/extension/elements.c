/* Reads numbers in a tensor's memory. */
#include "plugins/python/extension/extension.h"

static double ofBits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return (double)value;
}

static double half(uint32_t bits) {
  const uint32_t sign = (bits >> 15) << 31;
  const uint32_t exponent = (bits >> 10) & 31;
  const uint32_t mantissa = bits & 1023;
  if (exponent == 0)
    return (sign == 0 ? 1 : -1) * (double)mantissa / (1 << 24);
  return ofBits(sign | (exponent == 31 ? 255U : exponent + 112) << 23 | mantissa << 13);
}

static bool elementAt(uint64_t address, int kind, double* value) {
  const void* const at = (const void*)(uintptr_t)address;
  float single;
  uint16_t bits;
  memcpy(&bits, at, sizeof bits);
  switch (kind) {
    case 'f':
      memcpy(&single, at, sizeof single);
      *value = (double)single;
      return true;
    case 'd':
      memcpy(value, at, sizeof *value);
      return true;
    case 'e':
      *value = half(bits);
      return true;
    case 'b':
      *value = ofBits((uint32_t)bits << 16);
      return true;
    default:
      return false;
  }
}

PyObject* torchElement(PyObject* module, PyObject* arguments) {
  PyObject* name;
  unsigned long long address;
  int kind;
  unsigned long long when = 0;
  double value;
  (void)module;
  if (!PyArg_ParseTuple(arguments, "UKC|K", &name, &address, &kind, &when))
    return NULL;
  if (!elementAt(address, kind, &value)) {
    PyErr_SetString(PyExc_ValueError, "torch_element(name, address, 'f', 'd', 'e' or 'b')");
    return NULL;
  }
  if (sondeApi == NULL || !sondeApi->enabled(SONDE_PROBE_TORCH))
    Py_RETURN_NONE;
  if (when == 0)
    sondeApi->scalar(nameId(name), value);
  else
    sondeApi->scalar_at(nameId(name), value, when);
  Py_RETURN_NONE;
}
