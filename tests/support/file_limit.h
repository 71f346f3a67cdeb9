// A limit on the size of files, which stands in for a full disk: SQLite gets the same error. For
// tests; applies to the whole process until it is destroyed.
#pragma once

#include <sys/resource.h>

#include <csignal>

namespace sonde::test {

class FileLimit {
 public:
  FileLimit() {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, SIG_IGN);
  }
  ~FileLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, SIG_DFL);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;
  void set(rlim_t bytes) const {
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  void lift() const { set(before_.rlim_cur); }

 private:
  rlimit before_{};
};

}  // namespace sonde::test
