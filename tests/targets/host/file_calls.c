/* Calls on a file, each once, with offsets and counts that are known (tests/e2e/host/io_test.py).
   Exit status 1: a call did not do what it does without Sonde. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static void check(int holds, const char* what) {
  if (!holds) {
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(1);
  }
}

/* Not files, or files that are not on a disk: none of these has a row. */
static void noFiles(void) {
  char byte = 0;
  const int null = open("/dev/null", O_WRONLY);
  check(write(null, "x", 1) == 1, "/dev/null");
  close(null);
  const int status = open("/proc/self/status", O_RDONLY);
  check(read(status, &byte, 1) == 1, "/proc");
  close(status);
  const int memory = memfd_create("memory", 0);
  check(write(memory, "x", 1) == 1, "memfd");
  close(memory);
  int ends[2];
  check(pipe(ends) == 0, "pipe");
  check(write(ends[1], "x", 1) == 1 && read(ends[0], &byte, 1) == 1, "pipe");
  close(ends[0]);
  close(ends[1]);
}

static void writes(const char* path) {
  static char block[10000];
  struct iovec parts[2] = {{block, 100}, {block, 200}};
  const int fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
  check(write(fd, block, sizeof block) == sizeof block, "write");
  check(writev(fd, parts, 2) == 300, "writev");
  check(pwrite(fd, block, 50, 20000) == 50, "pwrite");
  check(pwritev(fd, parts, 2, 30000) == 300, "pwritev");
  check(pwritev2(fd, parts, 1, -1, 0) == 100, "pwritev2 where it stands");
  check(fsync(fd) == 0 && fdatasync(fd) == 0, "fsync");
  const int end = open(path, O_WRONLY | O_APPEND);
  check(write(end, block, 7) == 7, "append");
  close(end);
  close(fd);
}

static void reads(const char* path) {
  static char block[10000];
  struct iovec parts[2] = {{block, 10}, {block, 20}};
  const int fd = openat(AT_FDCWD, path, O_RDONLY);
  check(read(fd, block, 1000) == 1000, "read");
  check(readv(fd, parts, 2) == 30, "readv");
  check(pread(fd, block, 5, 4000) == 5, "pread");
  check(preadv(fd, parts, 2, 5000) == 30, "preadv");
  check(preadv2(fd, parts, 1, 6000, 0) == 10, "preadv2");
  const int copy = dup(fd);
  check(read(copy, block, 3) == 3, "a copy of the descriptor");
  check(lseek(fd, 0, SEEK_END) == 30307 && read(fd, block, 9) == 0, "behind the end");
  errno = 0;
  check(pread(fd, block, 1, -5) == -1 && errno == EINVAL, "a place that cannot be");
  check(pread(fd, block, 1, -1) == -1 && errno == EINVAL, "not where it stands");
  errno = 4711;
  check(pread(fd, block, 1, 0) == 1 && errno == 4711, "errno");
  void* mapped = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, fd, 4096);
  check(mapped != MAP_FAILED && munmap(mapped, 8192) == 0, "mmap");
  check(mmap(NULL, 0, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED && errno == EINVAL,
        "mmap of nothing");
  mapped = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  check(mapped != MAP_FAILED, "memory");
  close(copy);
  close(fd);
}

int __open_2(const char* path, int flags);
int __open64_2(const char* path, int flags);
int __openat_2(int folder, const char* path, int flags);
int __openat64_2(int folder, const char* path, int flags);

/* libc opens a file whose number is that of a closed folder. */
static void folders(const char* path) {
  char byte = 0;
  DIR* const folder = opendir("/tmp");
  const int number = dirfd(folder);
  check(fchdir(number) == 0 && read(number, &byte, 1) == -1 && errno == EISDIR, "a folder");
  check(closedir(folder) == 0, "closedir");
  FILE* const stream = fopen(path, "r");
  check(stream != NULL && fileno(stream) == number, "the same number");
  check(read(number, &byte, 1) == 1, "a file after a folder");
  fclose(stream);
}

/* As called by a fortified program. */
static void fortified(const char* path) {
  struct iovec part = {"y", 1};
  const int first = __open_2(path, O_WRONLY);
  check(pwritev2(first, &part, 1, 3, RWF_APPEND) == 1, "pwritev2 at the end");
  check(ftruncate(first, 30307) == 0, "ftruncate");
  close(first);
  close(__open64_2(path, O_RDONLY));
  close(__openat_2(AT_FDCWD, path, O_RDONLY));
  close(__openat64_2(AT_FDCWD, path, O_RDONLY));
}

/* Parent and child share the file position. */
static void inherited(const char* path) {
  char block[8];
  const int fd = open(path, O_RDONLY);
  check(read(fd, block, 8) == 8, "before the child");
  const pid_t child = fork();
  if (child == 0)
    _exit(read(fd, block, 8) == 8 ? 0 : 1);
  int status = 1;
  check(waitpid(child, &status, 0) == child && status == 0, "the child");
  check(read(fd, block, 4) == 4, "after the child");
  close(fd);
}

/* With a buffer of 4096 bytes, so that the bytes between libc and the file are known. */
static void streams(const char* path) {
  static char block[10000];
  FILE* stream = fopen(path, "w");
  setvbuf(stream, NULL, _IOFBF, 4096);
  check(fwrite(block, 1, 10, stream) == 10, "fwrite into the buffer");
  check(fwrite(block, 100, 100, stream) == 100, "fwrite");
  errno = 4711;
  check(fclose(stream) == 0 && errno == 4711, "fclose writes the rest");
  stream = fopen64(path, "r");
  setvbuf(stream, NULL, _IOFBF, 4096);
  check(fread(block, 1, 10, stream) == 10, "fread");
  check(fread(block, 10, 1, stream) == 1, "fread out of the buffer");
  check(fread_unlocked(block, 1, 9000, stream) == 9000, "fread past the buffer");
  check(fread(block, 1, 10000, stream) == 990, "fread to the end");
  check(freopen(path, "a", stream) == stream, "freopen");
  setvbuf(stream, NULL, _IOFBF, 4096);
  check(fwrite_unlocked(block, 1, 5000, stream) == 5000, "fwrite at the end");
  check(fclose(stream) == 0, "fclose at the end");
  stream = fopen(path, "r+");
  check(fwrite(block, 1, 3, stream) == 3 && fflush(stream) == 0 && fflush(stream) == 0, "fflush");
  check(fclose(stream) == 0, "fclose with nothing to write");
  stream = fmemopen(block, sizeof block, "r+");
  check(fwrite("x", 1, 1, stream) == 1 && fflush(stream) == 0 && fclose(stream) == 0, "memory");
}

/* Shared memory is written to its file immediately. */
static void mapped(const char* path) {
  const int fd = open(path, O_RDWR);
  char* const memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  check(memory != MAP_FAILED, "mmap");
  memory[0] = 'x';
  check(msync(memory, 4096, MS_SYNC) == 0 && munmap(memory, 4096) == 0, "msync");
  close(fd);
}

int main(int count, char** arguments) {
  check(count == 2, "usage: file_calls FILE");
  noFiles();
  writes(arguments[1]);
  reads(arguments[1]);
  inherited(arguments[1]);
  folders(arguments[1]);
  fortified(arguments[1]);
  streams(arguments[1]);
  mapped(arguments[1]);
  errno = 0;
  check(read(-1, arguments, 1) == -1 && errno == EBADF, "no descriptor");
  check(fsync(-1) == -1 && errno == EBADF, "fsync of no descriptor");
  check(open("/none/such", O_RDONLY) == -1 && errno == ENOENT, "no file");
  return 0;
}
