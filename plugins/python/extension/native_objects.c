/* Where callable objects keep the pointer to their C function: the layouts of CPython's objects. */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include "plugins/python/extension/native.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>

/* The first fields of CPython's builtin functions and method descriptors, 3.8 and later, with the
 * GIL. */
typedef struct FunctionObject {
  PyObject base;
  PyMethodDef* definition;
} FunctionObject;

enum { kVectorcallOfFunctions = sizeof(FunctionObject) + 3 * sizeof(void*) };

typedef struct DescriptorObject {
  PyObject base;
  PyTypeObject* type;
  PyObject* name;
  PyObject* qualifiedName;
  PyMethodDef* definition;
} DescriptorObject;

static bool isCython(PyObject* object) {
  PyObject* name = PyObject_GetAttrString((PyObject*)Py_TYPE(object), "__name__");
  const bool is =
      name != NULL && PyUnicode_CompareWithASCIIString(name, "cython_function_or_method") == 0;
  PyErr_Clear();
  Py_XDECREF(name);
  return is;
}

/* The first fields of a type; the offset is that of the called pointer in its objects. */
typedef struct TypeObject {
  PyObject base;
  Py_ssize_t size;
  const char* name;
  Py_ssize_t basicSize;
  Py_ssize_t itemSize;
  void* dealloc;
  Py_ssize_t vectorcallOffset;
} TypeObject;

enum { kHasVectorcall = 1UL << 11 }; /* Py_TPFLAGS_HAVE_VECTORCALL, _Py_… until 3.8 */

/* The place of the called pointer in `object`; NULL: it has none of its own. */
static void** vectorcallOf(PyObject* object) {
  const TypeObject* const type = (const TypeObject*)Py_TYPE(object);
  if ((PyType_GetFlags(Py_TYPE(object)) & kHasVectorcall) == 0 || type->vectorcallOffset <= 0)
    return NULL;
  return (void**)(void*)((char*)object + type->vectorcallOffset);
}

static PyTypeObject* descriptorType;      /* of str.upper */
static PyTypeObject* classDescriptorType; /* of dict.fromkeys */

/* The place of the definition in `object`; NULL: it is of another kind. */
static PyMethodDef** definitionOf(PyObject* object) {
  if (PyCFunction_Check(object) || isCython(object))
    return &((FunctionObject*)object)->definition;
  if (Py_TYPE(object) == descriptorType || Py_TYPE(object) == classDescriptorType)
    return &((DescriptorObject*)object)->definition;
  return NULL;
}

/* An attribute of a module, or of a type in the module. */
static PyObject* attributeOf(const char* module, const char* type, const char* name) {
  PyObject* holder = PyImport_ImportModule(module);
  PyObject* space;
  PyObject* item;
  if (holder != NULL && type != NULL) {
    PyObject* const inner = PyObject_GetAttrString(holder, type);
    Py_DECREF(holder);
    holder = inner;
  }
  space = holder == NULL ? NULL : PyObject_GetAttrString(holder, "__dict__");
  item = space == NULL ? NULL : PyMapping_GetItemString(space, name);
  Py_XDECREF(holder);
  Py_XDECREF(space);
  return item;
}

/* Checks three functions that are in every Python. */
static bool isAsHere(PyObject* function, PyObject* method, PyObject* classMethod) {
  const PyMethodDef* definition;
  if (!PyCFunction_Check(function))
    return false;
  definition = ((FunctionObject*)function)->definition;
  if (definition->ml_meth != PyCFunction_GetFunction(function) ||
      strcmp(definition->ml_name, "len") != 0 ||
      ((const TypeObject*)Py_TYPE(function))->vectorcallOffset != kVectorcallOfFunctions)
    return false;
  return ((DescriptorObject*)method)->type == &PyUnicode_Type &&
         ((DescriptorObject*)classMethod)->type == &PyDict_Type &&
         strcmp(((DescriptorObject*)method)->definition->ml_name, "upper") == 0 &&
         strcmp(((DescriptorObject*)classMethod)->definition->ml_name, "fromkeys") == 0;
}

bool areObjectsKnown(void) {
  PyObject* function;
  PyObject* method;
  PyObject* classMethod;
  if (descriptorType != NULL)
    return true;
  function = attributeOf("builtins", NULL, "len");
  method = attributeOf("builtins", "str", "upper");
  classMethod = attributeOf("builtins", "dict", "fromkeys");
  if (function != NULL && method != NULL && classMethod != NULL &&
      isAsHere(function, method, classMethod)) {
    descriptorType = Py_TYPE(method);
    classDescriptorType = Py_TYPE(classMethod);
  }
  PyErr_Clear();
  Py_XDECREF(function);
  Py_XDECREF(method);
  Py_XDECREF(classMethod);
  return descriptorType != NULL;
}

/* ---- where a definition is ---- */

static int hasAddress(struct dl_phdr_info* object, size_t size, void* address) {
  int i;
  (void)size;
  for (i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* const part = &object->dlpi_phdr[i];
    if (part->p_type == PT_LOAD &&
        (uintptr_t)address - (object->dlpi_addr + part->p_vaddr) < part->p_memsz)
      return 1;
  }
  return 0;
}

/* Whether the definition belongs to a library. It may then be a constant, or serve other objects as
 * well: `__new__` has one for all types. Otherwise it is on the heap and belongs to this object;
 * pybind11's functions change theirs later. */
static bool isOfALibrary(PyMethodDef* definition) {
  return dl_iterate_phdr(hasAddress, definition) != 0;
}

/* Never freed, because the object may be called until the process ends. */
static PyMethodDef* copyOf(const PyMethodDef* definition) {
  PyMethodDef* const copy = malloc(sizeof *copy);
  if (copy != NULL)
    *copy = *definition;
  return copy;
}

/* ISO C has no cast between object and function pointers. */
static void** placeIn(PyMethodDef* definition) {
  return (void**)(void*)&definition->ml_meth;
}

static bool isWatched(PyMethodDef* definition) {
  const void* function;
  memcpy(&function, placeIn(definition), sizeof function);
  return isEntry(function);
}

void** functionPlace(PyObject* object) {
  PyMethodDef** const definition = definitionOf(object);
  PyMethodDef* copy;
  if (definition == NULL)
    return vectorcallOf(object);
  if (*definition == NULL || (*definition)->ml_meth == NULL)
    return NULL;
  if (isWatched(*definition) || !isOfALibrary(*definition))
    return placeIn(*definition);
  copy = copyOf(*definition);
  if (copy == NULL)
    return NULL;
  *definition = copy;
  return placeIn(copy);
}
