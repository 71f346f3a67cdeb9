// A library in front of libc's read that throws, as a host's own wrapper or a cancellation may.
#include <sys/types.h>
#include <unistd.h>

#include <stdexcept>

extern "C" ssize_t read(int, void*, size_t) {
  throw std::runtime_error("thrown below the wrapper");
}
