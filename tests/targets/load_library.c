/* Loads a library as Python does and ends. */
#include <dlfcn.h>
#include <stddef.h>

int main(int argc, char** argv) {
  return argc > 1 && dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) != NULL ? 0 : 1;
}
