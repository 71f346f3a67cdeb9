// Records calls that create a request. Any thread. Requires: isActive().
#pragma once

#include "collector/preload/mpi/interposer/mpi_messages.h"

namespace sonde::preload::mpi {

inline void recordPost(Name& name, std::uint64_t begin, std::uint64_t end) noexcept {
  gSession.hooks->call(wire::SliceKind::Api, name(), {begin, end});
}

// `call` creates the request and `post` fills it in, if there is one. `enter()`: returns its
// Crossing.
template <typename Enter, typename Call, typename Post>
int posted(Name& name, Word place, Enter enter, Call call, Post post) {
  Request request{};
  request.crossing = enter();
  request.begin = now();
  const int result = call();
  const std::uint64_t end = now();
  recordPost(name, request.begin, end);
  const bool is = result == kSuccess && post(request);
  if (is)
    start(request);
  endCrossing(request.crossing, request);
  if (is)
    keepRequest(place, request, end);
  return result;
}

// A request that MPI_Start will start.
template <typename Call, typename Post>
int prepared(Name& name, Word place, Call call, Post post) {
  Request request{};
  const std::uint64_t begin = now();
  const int result = call();
  const std::uint64_t end = now();
  recordPost(name, begin, end);
  request.persistent = true;
  if (result == kSuccess && post(request))
    keepRequest(place, request, end);
  return result;
}

}  // namespace sonde::preload::mpi
