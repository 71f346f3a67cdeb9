/* Converts names to ids. Almost every name is a constant of the program, so the same str object
 * occurs again and again. A small table from object to id avoids encoding and hashing its bytes. It
 * owns its keys, so an address is never mistaken for another str. */
#include "plugins/python/extension/extension.h"

enum { kSlots = 512, kLongestKept = 256 };

static struct {
  PyObject* text;
  uint32_t id;
} slots[kSlots];

static uint32_t internText(PyObject* text) {
  /* backslashreplace: lone surrogates are legal in a str and must not raise here. */
  PyObject* bytes = PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
  char* data = NULL;
  Py_ssize_t size = 0;
  uint32_t id = 0;
  if (bytes != NULL && PyBytes_AsStringAndSize(bytes, &data, &size) == 0)
    id = sondeApi->intern(data, (size_t)size);
  PyErr_Clear();
  Py_XDECREF(bytes);
  return id;
}

uint32_t nameId(PyObject* text) {
  const uintptr_t address = (uintptr_t)text;
  const size_t slot = ((address >> 4) ^ (address >> 13)) % kSlots;
  PyObject* previous;
  uint32_t id;
  if (slots[slot].text == text)
    return slots[slot].id;
  id = internText(text);
  if (id == 0 || PyUnicode_GetLength(text) > kLongestKept)
    return id;
  previous = slots[slot].text;
  Py_INCREF(text);
  slots[slot].text = text;
  slots[slot].id = id;
  Py_XDECREF(previous);
  return id;
}
