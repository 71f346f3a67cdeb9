// A faulty library, to check that compare.py finds the faults. SONDE_HOST_FAULT names the fault.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int faulty(const char* name) {
  const char* fault = getenv("SONDE_HOST_FAULT");
  return fault != NULL && strcmp(fault, name) == 0;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int close(int fd) {
  while (fd < 0 && faulty("close-loops")) {
  }
  const int result = REAL(close)(fd);
  if (result != 0 && faulty("errno")) {
    errno = ENOENT;
  }
  return result;
}

int dup2(int from, int to) {
  return from == to && faulty("dup2-of-itself") ? -1 : REAL(dup2)(from, to);
}

ssize_t write(int fd, const void* bytes, size_t count) {
  const ssize_t result =
      REAL(write)(fd, bytes, count > 1 && faulty("short-write") ? count - 1 : count);
  return result > 0 ? (ssize_t)count : result;
}

int pipe2(int ends[2], int flags) {
  const int result = REAL(pipe2)(ends, flags);
  if (result == 0 && faulty("leak")) {
    open("/dev/null", O_RDONLY);
  }
  return result;
}

int pthread_sigmask(int how, const sigset_t* set, sigset_t* old) {
  const int result = REAL(pthread_sigmask)(how, set, old);
  if (how == SIG_UNBLOCK && sigismember(set, SIGUSR1) && faulty("mask")) {
    REAL(pthread_sigmask)(SIG_BLOCK, set, NULL);
  }
  return result;
}
