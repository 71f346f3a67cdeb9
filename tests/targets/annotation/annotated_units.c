/* Annotates in two source files, of C99 and C++17, and then prints dlerror's message. */
#include "plugins/api/sonde.h"

#include <stdio.h>

void annotateInAnotherUnit(void);

int main(void) {
  const char* error;
  sonde_scope scope = SONDE_BEGIN("in C");
  annotateInAnotherUnit();
  sonde_end(scope);
  error = dlerror();
  puts(error == NULL ? "no error" : error);
  return 0;
}
