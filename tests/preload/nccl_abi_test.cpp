// Compares libsonde_nccl.so's declarations of NCCL's binary interface with the header of the
// installed NCCL. Most differences are compile errors.
#include "collector/preload/nccl/nccl_types.h"

#include <gtest/gtest.h>
#include <nccl.h>

#include <cstddef>
#include <type_traits>

namespace sonde::preload::nccl {
namespace {

// How a parameter is passed: by address, in a register of its size, or as a structure.
template <typename Ours, typename Theirs>
constexpr bool kSamePassing =
    sizeof(Ours) == sizeof(Theirs) && std::is_class_v<Ours> ==
                                          std::is_class_v<Theirs>&& std::is_pointer_v<Ours> ==
                                          std::is_pointer_v<Theirs>;

template <typename Ours, typename Theirs>
struct Same : std::false_type {};
template <typename Ours, typename... OurParameters, typename Theirs, typename... TheirParameters>
requires(sizeof...(OurParameters) ==
         sizeof...(TheirParameters)) struct Same<Ours (*)(OurParameters...),
                                                 Theirs (*)(TheirParameters...)>
    : std::bool_constant<kSamePassing<Ours, Theirs> &&
                         (kSamePassing<OurParameters, TheirParameters> && ...)> {
};

using Comm = Communicator_t;
#define SAME_FUNCTION(name, ...) \
  static_assert(Same<Result_t (*)(__VA_ARGS__), decltype(&::name)>::value, #name)

SAME_FUNCTION(
    ncclAllReduce, const void*, void*, std::size_t, DataType_t, ReduceOp_t, Comm, Stream_t);
SAME_FUNCTION(ncclBroadcast, const void*, void*, std::size_t, DataType_t, int, Comm, Stream_t);
SAME_FUNCTION(ncclBcast, void*, std::size_t, DataType_t, int, Comm, Stream_t);
SAME_FUNCTION(
    ncclReduce, const void*, void*, std::size_t, DataType_t, ReduceOp_t, int, Comm, Stream_t);
SAME_FUNCTION(ncclAllGather, const void*, void*, std::size_t, DataType_t, Comm, Stream_t);
SAME_FUNCTION(
    ncclReduceScatter, const void*, void*, std::size_t, DataType_t, ReduceOp_t, Comm, Stream_t);
SAME_FUNCTION(ncclSend, const void*, std::size_t, DataType_t, int, Comm, Stream_t);
SAME_FUNCTION(ncclRecv, void*, std::size_t, DataType_t, int, Comm, Stream_t);
SAME_FUNCTION(ncclGroupStart);
SAME_FUNCTION(ncclGroupEnd);
SAME_FUNCTION(ncclCommInitRank, Comm*, int, UniqueId, int);
SAME_FUNCTION(ncclCommInitAll, Comm*, int, const int*);
SAME_FUNCTION(ncclCommDestroy, Comm);
SAME_FUNCTION(ncclCommAbort, Comm);
SAME_FUNCTION(ncclCommCount, const void*, int*);
SAME_FUNCTION(ncclCommUserRank, const void*, int*);
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 18, 1)
SAME_FUNCTION(ncclCommInitRankConfig, Comm*, int, UniqueId, int, void*);
SAME_FUNCTION(ncclCommFinalize, Comm);
SAME_FUNCTION(ncclCommSplit, Comm, int, int, Comm*, void*);
static_assert(kNoColor == NCCL_SPLIT_NOCOLOR);
#endif
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 23, 4)
SAME_FUNCTION(ncclCommInitRankScalable, Comm*, int, int, int, UniqueId*, void*);
SAME_FUNCTION(ncclGroupSimulateEnd, void*);
#endif
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 3)
SAME_FUNCTION(ncclCommShrink, Comm, int*, int, Comm*, void*, int);
SAME_FUNCTION(ncclAlltoAll, const void*, void*, std::size_t, DataType_t, Comm, Stream_t);
SAME_FUNCTION(ncclGather, const void*, void*, std::size_t, DataType_t, int, Comm, Stream_t);
SAME_FUNCTION(ncclScatter, const void*, void*, std::size_t, DataType_t, int, Comm, Stream_t);
#endif
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 9)
SAME_FUNCTION(ncclCommRevoke, Comm, int);
#endif
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 30, 3)
SAME_FUNCTION(ncclCommGrow, Comm, int, const UniqueId*, int, Comm*, void*);
#endif
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 32, 0)
SAME_FUNCTION(ncclAllReduceConfig,
              const void*,
              void*,
              std::size_t,
              DataType_t,
              ReduceOp_t,
              Comm,
              Stream_t,
              const void*);
SAME_FUNCTION(ncclScatterConfig,
              const void*,
              void*,
              std::size_t,
              DataType_t,
              int,
              Comm,
              Stream_t,
              const void*);
#endif

static_assert(sizeof(UniqueId) == sizeof(ncclUniqueId));
static_assert(alignof(UniqueId) == alignof(ncclUniqueId));

TEST(NcclAbi, ResultsAreNccls) {
  EXPECT_EQ(kSuccess, static_cast<int>(ncclSuccess));
  EXPECT_EQ(kSystemError, static_cast<int>(ncclSystemError));
  EXPECT_EQ(kInProgress, static_cast<int>(ncclInProgress));
}

}  // namespace
}  // namespace sonde::preload::nccl
