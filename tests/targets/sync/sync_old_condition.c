/* A wait at a condition by the functions that programs linked before 2003 are bound to. Their
   variable is a pointer to another, and so tells which ones were called
   (tests/e2e/threads/sync_test.py). Prints "CALL WAKEE WAKER". */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

__asm__(".symver pthread_cond_wait,pthread_cond_wait@GLIBC_2.2.5");
__asm__(".symver pthread_cond_signal,pthread_cond_signal@GLIBC_2.2.5");

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition;
static int isReady, wakee;

static void* waits(void* nothing) {
  pthread_mutex_lock(&mutex);
  wakee = (int)syscall(SYS_gettid);
  while (!isReady)
    pthread_cond_wait(&condition, &mutex);
  pthread_mutex_unlock(&mutex);
  return nothing;
}

int main(void) {
  pthread_t thread;
  uintptr_t pointer = 0;
  pthread_create(&thread, NULL, waits, NULL);
  for (int isWaiting = 0; !isWaiting; usleep(1000)) {
    pthread_mutex_lock(&mutex);
    isWaiting = wakee != 0;
    isReady = isWaiting;
    if (isWaiting)
      pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
  }
  pthread_join(thread, NULL);
  memcpy(&pointer, &condition, sizeof pointer);
  if (pointer < 65536) {
    fprintf(stderr, "not the functions that were asked for\n");
    return 1;
  }
  printf("pthread_cond_wait %d %d\n", wakee, (int)syscall(SYS_gettid));
  return 0;
}
