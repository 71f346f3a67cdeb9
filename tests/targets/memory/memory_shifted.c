/* A malloc that returns libc's blocks at shifted addresses, so that a mix-up with another malloc is
 * noticed. As a library, for LD_PRELOAD; as a program (MEMORY_OWN), memory_own BYTES, which
 * allocates that much (tests/e2e/host/memory_test.py). */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void* __libc_memalign(size_t alignment, size_t bytes);
extern void __libc_free(void* block);

struct head {
  uint64_t magic;
  void* whole;
  size_t bytes;
};
#define MAGIC 0x50de50de50de50deULL
#define LEAST ((size_t)64)

static struct head* head_of(void* block) {
  struct head* head = (struct head*)((char*)block - LEAST);
  if (head->magic != MAGIC)
    abort();
  return head;
}

void* memalign(size_t alignment, size_t bytes) {
  const size_t shift = alignment < LEAST ? LEAST : alignment;
  char* whole = bytes > PTRDIFF_MAX - 2 * shift ? NULL : __libc_memalign(shift, bytes + shift);
  struct head* head = (struct head*)(whole + shift - LEAST);
  if (whole == NULL) {
    errno = ENOMEM;
    return NULL;
  }
  head->magic = MAGIC;
  head->whole = whole;
  head->bytes = bytes;
  return whole + shift;
}

void* malloc(size_t bytes) {
  return memalign(LEAST, bytes);
}

void free(void* block) {
  const int error = errno;
  if (block != NULL) {
    struct head* head = head_of(block);
    head->magic = 0;
    __libc_free(head->whole);
  }
  errno = error;
}

void* calloc(size_t count, size_t size) {
  size_t bytes = 0;
  void* block = __builtin_mul_overflow(count, size, &bytes) ? NULL : memalign(LEAST, bytes);
  return block == NULL ? NULL : memset(block, 0, bytes);
}

void* realloc(void* block, size_t bytes) {
  void* fresh = memalign(LEAST, bytes);
  if (fresh == NULL || block == NULL)
    return fresh;
  const size_t old = head_of(block)->bytes;
  memcpy(fresh, block, old < bytes ? old : bytes);
  free(block);
  return fresh;
}

int posix_memalign(void** block, size_t alignment, size_t bytes) {
  if (alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0)
    return EINVAL;
  void* fresh = memalign(alignment, bytes);
  if (fresh == NULL)
    return ENOMEM;
  *block = fresh;
  return 0;
}

void* aligned_alloc(size_t alignment, size_t bytes) {
  return memalign(alignment, bytes);
}
void* valloc(size_t bytes) {
  return memalign(4096, bytes);
}
void* pvalloc(size_t bytes) {
  return memalign(4096, (bytes + 4095) & ~(size_t)4095);
}
size_t malloc_usable_size(void* block) {
  return block == NULL ? 0 : head_of(block)->bytes;
}

/* Takes so many keys that a thread's values of later keys are in memory that it allocates for them.
 */
__attribute__((constructor)) static void take_keys(void) {
  for (int at = 0; at < 40; ++at) {
    pthread_key_t key;
    pthread_key_create(&key, NULL);
  }
}

#ifdef MEMORY_OWN
int main(int count, char** words) {
  (void)count;
  void* block = malloc(strtoul(words[1], NULL, 10));
  if (block == NULL)
    return 1;
  head_of(block);
  free(block);
  return 0;
}
#endif
