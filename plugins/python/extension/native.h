/* Times calls of native functions by Python code: the functions of extension modules, each with a
 * category. Uses no hook of the interpreter. So profilers, debuggers and coverage tools keep
 * theirs, Python code runs at full speed, and a function stays the same object.
 *
 * A builtin function or method finds its C function through a PyMethodDef. There, the C function is
 * replaced by one of a table of entries, which differ only in their number. The number identifies
 * the original. Every way to call the object ends there: the interpreter's specialised
 * instructions, vectorcall, a bound method, an operator's slot that looks the method up.
 *
 * Callable objects of other kinds (NumPy's functions, nanobind's) have their own PEP 590 pointer,
 * which is replaced in the same way. */
#pragma once

#include "plugins/python/extension/extension.h"

/* native_entries.c. `function` is a C function in a void*, as stored in an object's memory. */
bool isEntry(const void* function);
bool areEntriesLeft(void);
/* Returns the entry that calls `original` and records it; NULL: no memory. Needs areEntriesLeft().
 */
const void* newEntry(const void* original, PyObject* name, uint32_t category);

/* native_objects.c. Whether this Python's objects have the layout in that file. */
bool areObjectsKnown(void);
/* Returns the place from which the C function is read whenever `object` is called; NULL: unknown.
 * Needs areObjectsKnown(). */
void** functionPlace(PyObject* object);
