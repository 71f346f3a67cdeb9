// The smallest program; linked in several ways to see which of them are followed.
#include <cstdio>

int main() {
  std::puts("plain");
  return 0;
}
