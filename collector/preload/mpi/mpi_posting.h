// How a call that makes a request is recorded. Any thread. Requires: isActive().
#pragma once

#include "collector/preload/mpi/mpi_messages.h"

namespace sonde::preload::mpi {

inline void recordPost(Name& name, std::uint64_t begin, std::uint64_t end) noexcept {
  gSession.hooks->call(wire::SliceKind::Api, name(), {begin, end});
}

// A request that `call` makes and `post` fills in, if there is to be one. `begins`: else MPI_Start
// will start it.
template <bool begins, typename Call, typename Post>
int posted(Name& name, Word place, Call call, Post post) {
  const std::uint64_t begin = now();
  const int result = call();
  const std::uint64_t end = now();
  recordPost(name, begin, end);
  Request request{};
  request.begin = begin;
  request.persistent = !begins;
  if (result != kSuccess || !post(request))
    return result;
  if (begins)
    start(request);
  keepRequest(place, request, end);
  return result;
}

}  // namespace sonde::preload::mpi
