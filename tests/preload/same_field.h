// Compares a field, or a number, in Sonde's own declarations with the library's own header.
#pragma once

#include <cstddef>

// If they differ, the file does not compile.
#define SAME_FIELD(Ours, ours, Theirs, theirs)                                           \
  static_assert(offsetof(Ours, ours) == offsetof(Theirs, theirs) &&                      \
                    sizeof(Ours::ours) == sizeof(static_cast<Theirs*>(nullptr)->theirs), \
                #Theirs "::" #theirs)
#define SAME_NUMBER(ours, theirs) \
  static_assert(static_cast<long long>(ours) == static_cast<long long>(theirs), #theirs)
