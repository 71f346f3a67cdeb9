// Compares Sonde's tables of MPI's binary interfaces with an MPI's header: built and run once with
// each MPI's own compiler. Prints the differences; the exit status is their number.
#include "collector/preload/mpi/interposer/mpi_abi_tables.h"

#include <dlfcn.h>
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace {

using namespace sonde::preload::mpi;

int gWrong = 0;

void expect(bool holds, const char* what) {
  if (holds)
    return;
  std::printf("differs: %s\n", what);
  ++gWrong;
}
#define EXPECT(...) expect((__VA_ARGS__), #__VA_ARGS__)

template <typename Value>
Handle wordOf(Value value) {
  return (Handle)(std::uintptr_t)value;  // a pointer with one, an int with the other
}

template <typename Abi>
void checkConstants(const Abi& abi) {
  EXPECT(kSuccess == MPI_SUCCESS && kUndefined == MPI_UNDEFINED && kAnyTag == MPI_ANY_TAG);
  EXPECT(kOtherError == MPI_ERR_OTHER || kOtherError == MPI_ERR_INTERN);
  EXPECT(abi.intHandles == (sizeof(MPI_Comm) == sizeof(int)));
  EXPECT(abi.anySource == MPI_ANY_SOURCE && abi.noProcess == MPI_PROC_NULL && abi.root == MPI_ROOT);
  EXPECT(abi.inPlace == wordOf(MPI_IN_PLACE));
  EXPECT(abi.ignoreStatus == wordOf(MPI_STATUS_IGNORE));
  EXPECT(abi.ignoreStatus == wordOf(MPI_STATUSES_IGNORE));
  EXPECT(abi.statusBytes == sizeof(MPI_Status));
  EXPECT(abi.isInStatus(MPI_ERR_IN_STATUS) && abi.isPending(MPI_ERR_PENDING));
  EXPECT(abi.graphTopology == MPI_GRAPH && abi.cartTopology == MPI_CART && MPI_DIST_GRAPH == 3);
  EXPECT(MPI_THREAD_MULTIPLE == 3);
}

template <typename Status>
void checkStatus() {
  EXPECT(offsetof(Status, source) == offsetof(MPI_Status, MPI_SOURCE));
  EXPECT(offsetof(Status, tag) == offsetof(MPI_Status, MPI_TAG));
  EXPECT(offsetof(Status, error) == offsetof(MPI_Status, MPI_ERROR));
}

// Compares Sonde's handle for a datatype with MPI's, by the name that both use.
void checkType(const NamedType& type, MPI_Datatype real, int bytes) {
#ifdef OPEN_MPI
  const Handle known = (Handle)dlsym(RTLD_DEFAULT, type.symbol);
#else
  const Handle known = type.mpich;
#endif
  if (known == wordOf(real) && type.bytes == (unsigned)bytes)
    return;
  std::printf("differs: %s\n", type.symbol);
  ++gWrong;
}

void checkTypes() {
  const MPI_Datatype real[] = {MPI_BYTE,
                               MPI_PACKED,
                               MPI_CHAR,
                               MPI_SIGNED_CHAR,
                               MPI_UNSIGNED_CHAR,
                               MPI_SHORT,
                               MPI_UNSIGNED_SHORT,
                               MPI_INT,
                               MPI_UNSIGNED,
                               MPI_LONG,
                               MPI_UNSIGNED_LONG,
                               MPI_LONG_LONG,
                               MPI_UNSIGNED_LONG_LONG,
                               MPI_FLOAT,
                               MPI_DOUBLE,
                               MPI_INT8_T,
                               MPI_INT32_T,
                               MPI_INT64_T,
                               MPI_UINT8_T,
                               MPI_UINT32_T,
                               MPI_UINT64_T,
                               MPI_INTEGER,
                               MPI_REAL,
                               MPI_DOUBLE_PRECISION,
                               MPI_LOGICAL,
                               MPI_CHARACTER};
  static_assert(sizeof real / sizeof real[0] == sizeof kTypes / sizeof kTypes[0]);
  for (std::size_t at = 0; at < sizeof real / sizeof real[0]; ++at) {
    int bytes = 0;
    MPI_Type_size(real[at], &bytes);
    checkType(kTypes[at], real[at], bytes);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
#ifdef OPEN_MPI
  checkConstants(kOpenMpi);
  checkStatus<OpenMpiStatus>();
  EXPECT(wordOf(MPI_COMM_WORLD) == (Handle)dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world"));
  EXPECT(wordOf(MPI_COMM_NULL) == (Handle)dlsym(RTLD_DEFAULT, "ompi_mpi_comm_null"));
  EXPECT(wordOf(MPI_REQUEST_NULL) == (Handle)dlsym(RTLD_DEFAULT, "ompi_request_null"));
  EXPECT(wordOf(MPI_MESSAGE_NO_PROC) == (Handle)dlsym(RTLD_DEFAULT, "ompi_message_no_proc"));
  EXPECT(dlsym(RTLD_DEFAULT, "ompi_request_empty") != nullptr);
#else
  checkConstants(kMpich);
  checkStatus<MpichStatus>();
  EXPECT(kMpich.world == wordOf(MPI_COMM_WORLD));
  EXPECT(kMpich.noCommunicator == wordOf(MPI_COMM_NULL));
  EXPECT(kMpich.noRequest == wordOf(MPI_REQUEST_NULL));
  EXPECT(kMpich.noProcessMessage == (std::uint32_t)wordOf(MPI_MESSAGE_NO_PROC));
#endif
  checkTypes();
  MPI_Status status;
  MPI_Status_set_elements(&status, MPI_BYTE, 12345);
  MPI_Status_set_cancelled(&status, 1);
#ifdef OPEN_MPI
  const auto* set = reinterpret_cast<const OpenMpiStatus*>(&status);
  EXPECT(set->bytes == 12345 && set->cancelled == 1);
#else
  const auto* set = reinterpret_cast<const MpichStatus*>(&status);
  EXPECT(set->bytesLow == 12345 && set->bytesHigh == 1);
#endif
  MPI_Finalize();
  return gWrong;
}
