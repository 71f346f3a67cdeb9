/* Loads a library as Python does and ends; a signal ends a load that hangs. */
#include <dlfcn.h>
#include <stddef.h>
#include <unistd.h>

int main(int argc, char** argv) {
  alarm(30);
  return argc > 1 && dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) != NULL ? 0 : 1;
}
