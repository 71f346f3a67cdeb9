// Closes an invalid descriptor, as dash does at the end of each pipeline: libc returns EBADF
// immediately.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

static const int kNumbers[] = {-1, INT_MIN, INT_MAX, 1 << 20, (1 << 20) - 1, 777};

int main(void) {
  for (unsigned i = 0; i < sizeof kNumbers / sizeof *kNumbers; ++i) {
    errno = 0;
    const int closed = close(kNumbers[i]);
    printf("close(%d) = %d, errno %d\n", kNumbers[i], closed, errno);
  }
  const int fd = open("/dev/null", O_RDONLY);
  const int first = close(fd);
  const int second = close(fd);
  printf("twice: %d, then %d, errno %d\n", first, second, errno);
  return 0;
}
