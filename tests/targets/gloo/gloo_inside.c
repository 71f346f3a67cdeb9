/* A library that contains its own Gloo and exports it, so that its calls reach Sonde's function
 * first. Its arguments look nothing like the options of any real Gloo. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* gloo::Context::Context(int, int, int) and ~Context() */
void construct(void* self, int rank, int size, int base) __asm__("_ZN4gloo7ContextC2Eiii");
void destroy(void* self) __asm__("_ZN4gloo7ContextD2Ev");

__attribute__((visibility("default"))) void construct(void* self, int rank, int size, int base) {
  (void)self, (void)rank, (void)size, (void)base;
}

__attribute__((visibility("default"))) void destroy(void* self) {
  (void)self;
}

/* gloo::allreduce(const gloo::AllreduceOptions&) */
void allreduce(const void* options) __asm__("_ZN4gloo9allreduceERKNS_16AllreduceOptionsE");

__attribute__((visibility("default"))) void allreduce(const void* options) {
  puts(options == NULL ? "nothing" : "options");
}

/* gloo::barrier(gloo::BarrierOptions&) */
void barrier(void* options) __asm__("_ZN4gloo7barrierERNS_14BarrierOptionsE");

__attribute__((visibility("default"))) void barrier(void* options) {
  puts(options == NULL ? "inside" : "with options");
}

__attribute__((constructor)) static void work(void) {
  static char context[256];
  static uintptr_t options[64];
  barrier(NULL);
  construct(context, 0, 2, 2);
  memset(options, 0x10, sizeof options); /* wild pointers wherever a buffer may be looked for */
  options[0] = (uintptr_t)context;
  allreduce(options);
  allreduce(options);
  destroy(context);
}
