/* Loads a library by bare name, which only this program's own RUNPATH finds. */
#include <dlfcn.h>
#include <stdio.h>

int main(void) {
  void* library = dlopen("librunpath_plugin.so", RTLD_NOW);
  if (library == NULL) {
    printf("%s\n", dlerror());
    return 1;
  }
  int (*answer)(void) = (int (*)(void))dlsym(library, "answer");
  printf("%d\n", answer());
  return 0;
}
