/* A thread that does nothing else runs a program by vfork and exec; the thread's id is printed. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void* run(void* id) {
  char* words[] = {(char*)"true", NULL};
  char* nothing[] = {NULL};
  *(long*)id = syscall(SYS_gettid);
  const pid_t child = vfork();
  if (child == 0) {
    execve("/bin/true", words, nothing);
    _exit(1);
  }
  waitpid(child, NULL, 0);
  return NULL;
}

int main(void) {
  pthread_t thread;
  long id = 0;
  if (pthread_create(&thread, NULL, run, &id) != 0 || pthread_join(thread, NULL) != 0)
    return 1;
  printf("%ld", id);
  return 0;
}
