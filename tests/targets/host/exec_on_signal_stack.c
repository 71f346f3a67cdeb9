/* A crash handler on a small alternate stack, with nothing below it, runs programs as such handlers
 * do: with the environment unchanged, with a long value in it, and with many variables. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kStack = 8192, kGuard = 65536, kVariables = 900, kLong = 5000 };

static char* gMany[kVariables + 1];
static char gLong[kLong];
static volatile sig_atomic_t gManyVariables;
static volatile sig_atomic_t gFailures;

static void onCrash(int number) {
  char* words[] = {(char*)"echo", (char*)"handled", NULL};
  (void)number;
  const pid_t child = fork();
  if (child == 0) {
    if (gManyVariables)
      execve("/bin/echo", words, gMany);
    else
      execvp("echo", words);
    _exit(1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  if (status != 0)
    gFailures = gFailures + 1;
}

static void fillEnvironments(void) {
  static char names[kVariables][16];
  for (int at = 0; at < kVariables; ++at) {
    snprintf(names[at], sizeof names[at], "V%d=x", at);
    gMany[at] = names[at];
  }
  memset(gLong, 'p', sizeof gLong - 1);
}

int main(void) {
  char* memory = mmap(NULL, kGuard + kStack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const stack_t stack = {.ss_sp = memory + kGuard, .ss_size = kStack};
  const struct sigaction action = {.sa_handler = onCrash, .sa_flags = SA_ONSTACK};
  fillEnvironments();
  if (mprotect(memory + kGuard, kStack, PROT_READ | PROT_WRITE) != 0 ||
      sigaltstack(&stack, NULL) != 0 || sigaction(SIGSEGV, &action, NULL) != 0)
    return 1;
  raise(SIGSEGV);
  if (setenv("PYTHONPATH", gLong, 1) != 0)
    return 1;
  raise(SIGSEGV);
  gManyVariables = 1;
  raise(SIGSEGV);
  return gFailures == 0 ? 9 : gFailures;
}
