/* NVTX in the program and in a library that it loads; a range of one contains a range of the other.
 */
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  void (*work)(void) = NULL;
  if (library == NULL)
    return 1;
  *(void**)&work = dlsym(library, "pluginWork");
  printf("push %d\n", nvtxRangePushA("in the program"));
  work();
  work();
  printf("pop %d\n", nvtxRangePop());
  return 0;
}
