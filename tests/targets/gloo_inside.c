/* A library that holds a Gloo of its own and exports it, so that its own calls reach Sonde's
 * function first. */
#include <stdio.h>

/* gloo::barrier(gloo::BarrierOptions&) */
void barrier(void* options) __asm__("_ZN4gloo7barrierERNS_14BarrierOptionsE");

__attribute__((visibility("default"))) void barrier(void* options) {
  puts(options == NULL ? "inside" : "with options");
}

__attribute__((constructor)) static void work(void) {
  barrier(NULL);
}
