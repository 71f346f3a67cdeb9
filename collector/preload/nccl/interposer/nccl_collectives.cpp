// NCCL's collectives, sends and receives. Each wrapper has the parameters of NCCL's function, calls
// the recorder before and after it, and returns its result. There is nothing to destroy around the
// call. A wrapper without an NCCL behind it returns NCCL's own error.
#include "collector/core/platform/hooks.h"
#include "collector/preload/nccl/interposer/nccl_library.h"
#include "collector/preload/nccl/nccl_types.h"

namespace nccl = sonde::preload::nccl;
using nccl::Communicator_t;
using nccl::DataType_t;
using nccl::ReduceOp_t;
using nccl::Result_t;
using nccl::Stream_t;

namespace {

constexpr std::uint8_t kBroadcast = 0;  // ncclFunc_t
constexpr std::uint8_t kReduce = 1;
constexpr std::uint8_t kAllGather = 2;
constexpr std::uint8_t kReduceScatter = 3;
constexpr std::uint8_t kAllReduce = 4;
constexpr std::uint8_t kSend = 6;
constexpr std::uint8_t kRecv = 7;
constexpr std::uint8_t kAlltoAll = 8;
constexpr std::uint8_t kScatter = 9;
constexpr std::uint8_t kGather = 10;

}  // namespace

#define SONDE_WORDS(...) __VA_ARGS__
// facts: function, communicator, send, receive, count, type, root or peer, stream
#define SONDE_NCCL_CALL(name, parameters, arguments, facts)      \
  SONDE_EXPORT Result_t name(parameters) {                       \
    static nccl::RealNccl<Result_t (*)(parameters)> real{#name}; \
    if (!real.find(__builtin_return_address(0)))                 \
      return nccl::kSystemError;                                 \
    if (nccl::hooks() == nullptr)                                \
      return real()(arguments);                                  \
    const nccl::ApiCall call = {#name, facts};                   \
    const nccl::OpenCall open = nccl::hooks()->begin(call);      \
    const Result_t result = real()(arguments);                   \
    nccl::hooks()->end(open, call, result);                      \
    return result;                                               \
  }

// A function and, from NCCL 2.32 on, its variant that also takes a configuration.
#define SONDE_NCCL_CALLS(name, parameters, arguments, facts)                                 \
  SONDE_NCCL_CALL(name, SONDE_WORDS(parameters), SONDE_WORDS(arguments), SONDE_WORDS(facts)) \
  SONDE_NCCL_CALL(name##Config,                                                              \
                  SONDE_WORDS(parameters, const void* config),                               \
                  SONDE_WORDS(arguments, config),                                            \
                  SONDE_WORDS(facts))

// One macro per signature: functions that reduce on all ranks, functions with a root, and functions
// with neither.
#define SONDE_NCCL_REDUCING(name, function)                                   \
  SONDE_NCCL_CALLS(name,                                                      \
                   SONDE_WORDS(const void* send,                              \
                               void* receive,                                 \
                               std::size_t count,                             \
                               DataType_t type,                               \
                               ReduceOp_t op,                                 \
                               Communicator_t comm,                           \
                               Stream_t stream),                              \
                   SONDE_WORDS(send, receive, count, type, op, comm, stream), \
                   SONDE_WORDS(function, comm, send, receive, count, type, -1, stream))
#define SONDE_NCCL_ROOTED(name, function)                                       \
  SONDE_NCCL_CALLS(name,                                                        \
                   SONDE_WORDS(const void* send,                                \
                               void* receive,                                   \
                               std::size_t count,                               \
                               DataType_t type,                                 \
                               int root,                                        \
                               Communicator_t comm,                             \
                               Stream_t stream),                                \
                   SONDE_WORDS(send, receive, count, type, root, comm, stream), \
                   SONDE_WORDS(function, comm, send, receive, count, type, root, stream))
#define SONDE_NCCL_MOVING(name, function)                                 \
  SONDE_NCCL_CALLS(name,                                                  \
                   SONDE_WORDS(const void* send,                          \
                               void* receive,                             \
                               std::size_t count,                         \
                               DataType_t type,                           \
                               Communicator_t comm,                       \
                               Stream_t stream),                          \
                   SONDE_WORDS(send, receive, count, type, comm, stream), \
                   SONDE_WORDS(function, comm, send, receive, count, type, -1, stream))
// With one buffer; `root` is the peer of a send or receive.
#define SONDE_NCCL_ONE_BUFFER(name, Buffer, function, sent, received)   \
  SONDE_NCCL_CALL(name,                                                 \
                  SONDE_WORDS(Buffer* buffer,                           \
                              std::size_t count,                        \
                              DataType_t type,                          \
                              int root,                                 \
                              Communicator_t comm,                      \
                              Stream_t stream),                         \
                  SONDE_WORDS(buffer, count, type, root, comm, stream), \
                  SONDE_WORDS(function, comm, sent, received, count, type, root, stream))

SONDE_NCCL_REDUCING(ncclAllReduce, kAllReduce)
SONDE_NCCL_REDUCING(ncclReduceScatter, kReduceScatter)
SONDE_NCCL_ROOTED(ncclBroadcast, kBroadcast)
SONDE_NCCL_ROOTED(ncclGather, kGather)
SONDE_NCCL_ROOTED(ncclScatter, kScatter)
SONDE_NCCL_MOVING(ncclAllGather, kAllGather)
SONDE_NCCL_MOVING(ncclAlltoAll, kAlltoAll)
SONDE_NCCL_ONE_BUFFER(ncclBcast, void, kBroadcast, buffer, buffer)
SONDE_NCCL_ONE_BUFFER(ncclSend, const void, kSend, buffer, nullptr)
SONDE_NCCL_ONE_BUFFER(ncclRecv, void, kRecv, nullptr, buffer)
SONDE_NCCL_CALLS(ncclReduce,
                 SONDE_WORDS(const void* send,
                             void* receive,
                             std::size_t count,
                             DataType_t type,
                             ReduceOp_t op,
                             int root,
                             Communicator_t comm,
                             Stream_t stream),
                 SONDE_WORDS(send, receive, count, type, op, root, comm, stream),
                 SONDE_WORDS(kReduce, comm, send, receive, count, type, root, stream))
