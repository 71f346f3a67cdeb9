/* A library that is loaded late; see stack_tree.cpp. */
void plugged(long units);

__attribute__((noinline)) static void plugged_inner(long units) {
  for (volatile long i = 0; i < units; i = i + 1)
    ;
}

void plugged(long units) {
  plugged_inner(units);
  __asm__ volatile("" ::: "memory");
}
