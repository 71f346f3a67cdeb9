// NVTX's C++ interface as real libraries use it: scoped ranges in their own domain, from several
// threads, with an exception that leaves two of them.
#include <cstdio>
#include <stdexcept>
#include <thread>

#include <nvtx3/nvtx3.hpp>

struct Solver {
  static constexpr char const* name{"solver"};
};

struct Hot {
  static constexpr char const* name{"hot"};
  static constexpr uint32_t id{3};
};

struct Assembled {
  static constexpr char const* message{"assembled"};
};

namespace {

void work() {
  NVTX3_FUNC_RANGE_IN(Solver);
  const nvtx3::scoped_range_in<Solver> inner{nvtx3::registered_string_in<Solver>::get<Assembled>(),
                                             nvtx3::named_category_in<Solver>::get<Hot>(),
                                             nvtx3::payload{17},
                                             nvtx3::rgb{1, 2, 3}};
  throw std::runtime_error("left");
}

void runAndCatch() {
  try {
    work();
  } catch (const std::runtime_error& error) {
    std::puts(error.what());
  }
}

}  // namespace

int main() {
  const nvtx3::unique_range whole{"whole"};
  std::thread other{runAndCatch};
  other.join();
  runAndCatch();
  nvtx3::mark("done");
}
