// The two interfaces, as constants: from Open MPI 4.1's mpi.h and MPICH 4.0's.
// tests/preload/mpi_abi.cpp compares them with the headers where these are installed.
#pragma once

#include "collector/preload/mpi/interposer/mpi_abi.h"

namespace sonde::preload::mpi {

using wire::DataType;

struct OpenMpiStatus {
  int source;
  int tag;
  int error;
  int cancelled;
  std::size_t bytes;
};
static_assert(sizeof(OpenMpiStatus) <= kMaxStatusBytes);

struct MpichStatus {
  unsigned bytesLow;
  unsigned bytesHigh;  // the lowest bit: cancelled
  int source;
  int tag;
  int error;
};
static_assert(sizeof(MpichStatus) <= kMaxStatusBytes);

struct NamedType {
  const char* symbol;  // Open MPI's
  Handle mpich;
  DataType type;
  std::uint8_t bytes;
};
inline constexpr NamedType kTypes[] = {
    {"ompi_mpi_byte", 0x4c00010d, DataType::Uint8, 1},
    {"ompi_mpi_packed", 0x4c00010f, DataType::Uint8, 1},
    {"ompi_mpi_char", 0x4c000101, DataType::Int8, 1},
    {"ompi_mpi_signed_char", 0x4c000118, DataType::Int8, 1},
    {"ompi_mpi_unsigned_char", 0x4c000102, DataType::Uint8, 1},
    {"ompi_mpi_short", 0x4c000203, DataType::Unknown, 2},
    {"ompi_mpi_unsigned_short", 0x4c000204, DataType::Unknown, 2},
    {"ompi_mpi_int", 0x4c000405, DataType::Int32, 4},
    {"ompi_mpi_unsigned", 0x4c000406, DataType::Uint32, 4},
    {"ompi_mpi_long", 0x4c000807, DataType::Int64, 8},
    {"ompi_mpi_unsigned_long", 0x4c000808, DataType::Uint64, 8},
    {"ompi_mpi_long_long_int", 0x4c000809, DataType::Int64, 8},
    {"ompi_mpi_unsigned_long_long", 0x4c000819, DataType::Uint64, 8},
    {"ompi_mpi_float", 0x4c00040a, DataType::Float32, 4},
    {"ompi_mpi_double", 0x4c00080b, DataType::Float64, 8},
    {"ompi_mpi_int8_t", 0x4c000137, DataType::Int8, 1},
    {"ompi_mpi_int32_t", 0x4c000439, DataType::Int32, 4},
    {"ompi_mpi_int64_t", 0x4c00083a, DataType::Int64, 8},
    {"ompi_mpi_uint8_t", 0x4c00013b, DataType::Uint8, 1},
    {"ompi_mpi_uint32_t", 0x4c00043d, DataType::Uint32, 4},
    {"ompi_mpi_uint64_t", 0x4c00083e, DataType::Uint64, 8},
    {"ompi_mpi_integer", 0x4c00041b, DataType::Int32, 4},
    {"ompi_mpi_real", 0x4c00041c, DataType::Float32, 4},
    {"ompi_mpi_dblprec", 0x4c00081f, DataType::Float64, 8},
    {"ompi_mpi_logical", 0x4c00041d, DataType::Unknown, 4},
    {"ompi_mpi_character", 0x4c00011a, DataType::Int8, 1}};
static_assert(sizeof kTypes / sizeof kTypes[0] <= kMaxDatatypes);

inline constexpr Abi kMpich = {true,
                               -2,
                               -1,
                               -3,
                               static_cast<Word>(-1),
                               1,
                               sizeof(MpichStatus),
                               17,
                               18,
                               1,
                               2,
                               0x4400'0000,
                               0x0400'0000,
                               0x2c00'0000,
                               0x6c00'0000,
                               0x0c00'0000,
                               0,
                               {}};
inline constexpr Abi kOpenMpi = {
    false, -1, -2, -4, 1, 0, sizeof(OpenMpiStatus), 18, 19, 2, 1, 0, 0, 0, 0, 0, 0, {}};

}  // namespace sonde::preload::mpi
