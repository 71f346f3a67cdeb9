#include "collector/preload/common/job_members.h"

#include <cstdlib>

namespace sonde::preload {
namespace {

int environmentNumber(const char* name) noexcept {
  const char* text = std::getenv(name);
  return text == nullptr || *text == '\0' ? -1 : std::atoi(text);
}

}  // namespace

void jobMembers(int position, int size, std::int32_t* members) noexcept {
  const int own = environmentNumber("RANK");
  const bool everyone = environmentNumber("WORLD_SIZE") == size && own == position;
  for (int at = 0; at < size; ++at)
    members[at] = everyone ? at : -1;
  if (!everyone && position >= 0 && position < size)
    members[position] = own;
}

}  // namespace sonde::preload
