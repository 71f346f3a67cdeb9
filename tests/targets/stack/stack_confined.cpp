// Runs the case named by its argument, and prints results that must be the same without Sonde
// (tests/e2e/threads/stack_test.py):
//   filter   a child that installs a filter which kills it at all system calls but write and exit,
//            and computes: no signal may interrupt it, because its handler ends with a system call
//   mallocs  a thread that begins without malloc or free, as one in a child of _Fork() has to
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
void* __libc_malloc(std::size_t bytes);
void __libc_free(void* block);
}

namespace {

std::atomic<int> gCalls{0};
std::atomic<bool> gIsCounting{false};
thread_local bool tIsMaker = false;

void count() {
  if (gIsCounting.load() && !tIsMaker)
    ++gCalls;
}

void* begin(void* /*argument*/) {
  gIsCounting = false;
  return nullptr;
}

int mallocs() {
  tIsMaker = true;
  for (int at = 0; at < 20; ++at) {
    pthread_t thread{};
    gIsCounting = true;
    if (pthread_create(&thread, nullptr, begin, nullptr) != 0)
      return 1;
    pthread_join(thread, nullptr);
  }
  std::printf("calls: %d\n", gCalls.load());
  return 0;
}

bool confine() {
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  const sock_fprog program = {sizeof rules / sizeof *rules, rules};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

int filter() {
  if (fork() == 0) {
    if (!confine())
      _exit(77);
    for (volatile long i = 0; i < 400'000'000; i = i + 1)
      ;
    _exit(5);
  }
  int status = 0;
  wait(&status);
  std::printf("the child has ended: %x\n", static_cast<unsigned>(status));
  return 0;
}

}  // namespace

extern "C" void* malloc(std::size_t bytes) {
  count();
  return __libc_malloc(bytes);
}

extern "C" void free(void* block) {
  count();
  __libc_free(block);
}

int main(int words, char** word) {
  if (words == 2 && std::strcmp(word[1], "filter") == 0)
    return filter();
  if (words == 2 && std::strcmp(word[1], "mallocs") == 0)
    return mallocs();
  return 2;
}
