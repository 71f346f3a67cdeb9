// A C++ exception, and then a thread's cancellation, pass through wrapped calls; destructors run on
// the way.
#include <pthread.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdio>
#include <stdexcept>

namespace {

struct Witness {
  ~Witness() { std::printf("%s destroyed\n", what); }
  const char* what;
};

void* receive(void* ends) {
  const Witness witness{"thread's frame"};
  char byte = 0;
  iovec part{&byte, 1};
  (void)readv(static_cast<int*>(ends)[0], &part, 1);
  return nullptr;
}

}  // namespace

int main() {
  int ends[2];
  if (pipe(ends) != 0)
    return 1;
  try {
    const Witness witness{"frame"};
    char byte = 0;
    (void)read(ends[0], &byte, 1);
  } catch (const std::runtime_error& error) {
    std::printf("caught: %s\n", error.what());
  }
  pthread_t thread;
  void* result = nullptr;
  if (pthread_create(&thread, nullptr, receive, ends) != 0)
    return 1;
  usleep(20'000);
  pthread_cancel(thread);
  pthread_join(thread, &result);
  std::printf("%s\n", result == PTHREAD_CANCELED ? "cancelled" : "ended");
}
