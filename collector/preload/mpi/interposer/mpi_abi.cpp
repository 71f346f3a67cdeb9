#include "collector/preload/mpi/interposer/mpi_abi.h"

#include "collector/preload/mpi/interposer/mpi_abi_tables.h"
#include "collector/preload/mpi/interposer/mpi_library.h"

#include <cstring>

namespace sonde::preload::mpi {
namespace {

constinit Abi gAbi{};

Handle addressOf(const char* symbol) noexcept {
  return reinterpret_cast<Handle>(findData(symbol));
}

const Abi* openMpi() noexcept {
  gAbi = kOpenMpi;
  gAbi.world = addressOf("ompi_mpi_comm_world");
  gAbi.noCommunicator = addressOf("ompi_mpi_comm_null");
  gAbi.noRequest = addressOf("ompi_request_null");
  gAbi.noProcessMessage = addressOf("ompi_message_no_proc");
  gAbi.noType = addressOf("ompi_mpi_datatype_null");
  gAbi.doneRequest = addressOf("ompi_request_empty");
  std::size_t count = 0;
  for (const NamedType& named : kTypes)
    gAbi.types[count++] = {addressOf(named.symbol), named.type, named.bytes};
  return &gAbi;
}

const Abi* mpich() noexcept {
  gAbi = kMpich;
  std::size_t count = 0;
  for (const NamedType& named : kTypes)
    gAbi.types[count++] = {named.mpich, named.type, named.bytes};
  return &gAbi;
}

bool isOfMpich(const char* version) noexcept {
  constexpr const char* kNames[] = {
      "MPICH", "Intel(R) MPI", "MVAPICH", "CRAY MPICH", "ParaStation"};
  for (const char* name : kNames) {
    if (std::strstr(version, name) != nullptr)
      return true;
  }
  return false;
}

constexpr std::size_t kMaxVersionBytes = 8192;  // MPI_MAX_LIBRARY_VERSION_STRING

}  // namespace

Received Abi::received(const void* status) const noexcept {
  if (intHandles) {
    const auto* of = static_cast<const MpichStatus*>(status);
    const std::uint64_t high = of->bytesHigh >> 1;
    return {of->source, of->tag, (of->bytesHigh & 1) != 0, high << 32 | of->bytesLow};
  }
  const auto* of = static_cast<const OpenMpiStatus*>(status);
  return {of->source, of->tag, of->cancelled != 0, of->bytes};
}

int Abi::errorIn(const void* status) const noexcept {
  return intHandles ? static_cast<const MpichStatus*>(status)->error
                    : static_cast<const OpenMpiStatus*>(status)->error;
}

const Abi* chooseAbi(char* version, std::size_t size) noexcept {
  static constinit RealMpi<int (*)(char*, int*)> ask{"PMPI_Get_library_version"};
  static char text[kMaxVersionBytes];
  int length = 0;
  if (!ask.find(nullptr) || ask()(text, &length) != kSuccess)
    text[0] = '\0';
  std::strncpy(version, text, size - 1);
  version[size - 1] = '\0';
  if (addressOf("ompi_mpi_comm_world") != 0 && addressOf("ompi_request_null") != 0)
    return openMpi();
  return isOfMpich(text) ? mpich() : nullptr;
}

}  // namespace sonde::preload::mpi
