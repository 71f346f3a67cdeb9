/* Like sshd: a child that has recorded nothing yet installs a filter that kills it at all calls but
 * read, write and exit, and continues. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ALLOW(call) \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static int confine(void) {
  struct sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      ALLOW(SYS_read),
      ALLOW(SYS_write),
      ALLOW(SYS_exit_group),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  const struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

int main(void) {
  int to[2];
  int from[2];
  char byte = 'x';
  int status = 0;
  /* Only asks whether the kernel supports filters: recording continues. */
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) == 0)
    return 1;
  if (pipe(to) != 0 || pipe(from) != 0)
    return 1;
  if (fork() == 0) {
    if (!confine())
      _exit(77);
    if (read(to[0], &byte, 1) != 1 || write(from[1], &byte, 1) != 1)
      _exit(1);
    _exit(5);
  }
  if (write(to[1], &byte, 1) != 1)
    return 1;
  wait(&status);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
    return 77;
  printf("the child has ended: %x\n", (unsigned)status);
  return 0;
}
