/* Calls of native functions by Python code: the functions of extension modules, each with a
 * category, are timed from the inside. No hook of the interpreter takes part, so profilers,
 * debuggers and coverage tools have theirs for themselves, Python code runs at its full speed, and
 * a function stays the object that it was.
 *
 * A builtin function or method leads to its C function by a PyMethodDef. In it, the C function is
 * replaced by one of a table of entries, all alike but for their number, and the number leads to
 * the original. Every way to call the object ends there: the interpreter's specialised
 * instructions, vectorcall, a bound method, an operator's slot that looks the method up.
 *
 * Callable objects of other kinds (NumPy's functions, nanobind's) have their own pointer of PEP
 * 590, to which the same is done. */
#pragma once

#include "plugins/python/extension/extension.h"

/* native_entries.c. `function` is a C function in a void*, as it lies in an object's memory. */
bool isEntry(const void* function);
bool areEntriesLeft(void);
/* The entry that calls `original` and records it; NULL: no memory. Needs areEntriesLeft(). */
const void* newEntry(const void* original, PyObject* name, uint32_t category);

/* native_objects.c. Whether this Python's objects are as that file has them. */
bool areObjectsKnown(void);
/* Where the C function is read from whenever `object` is called; NULL: that is not known. Needs
 * areObjectsKnown(). */
void** functionPlace(PyObject* object);
