/* A crash handler on a small stack of its own, with nothing below it, runs a program as such
 * handlers do. */
#define _GNU_SOURCE
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;
enum { kStack = 8192, kGuard = 65536 };

static void onCrash(int number) {
  char* words[] = {(char*)"echo", (char*)"handled", NULL};
  (void)number;
  const pid_t child = fork();
  if (child == 0) {
    execvp("echo", words);
    _exit(1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  _exit(status == 0 ? 9 : 1);
}

int main(void) {
  char* memory = mmap(NULL, kGuard + kStack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const stack_t stack = {.ss_sp = memory + kGuard, .ss_size = kStack};
  const struct sigaction action = {.sa_handler = onCrash, .sa_flags = SA_ONSTACK};
  if (mprotect(memory + kGuard, kStack, PROT_READ | PROT_WRITE) != 0 ||
      sigaltstack(&stack, NULL) != 0 || sigaction(SIGSEGV, &action, NULL) != 0)
    return 1;
  raise(SIGSEGV);
  return 1;
}
