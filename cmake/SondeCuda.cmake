# Looks for NVIDIA's headers of CUDA and CUPTI; needs no CUDA library or compiler. Sets
# SONDE_HAVE_CUPTI, SONDE_CUDA_INCLUDE_DIRS (empty without both headers) and SONDE_CUPTI_API_VERSION
# (of the header: 24 is CUDA 12.6's, 130001 CUDA 13.0's). Search order: CUDAToolkit_ROOT, which may
# be a toolkit or what pip installs from NVIDIA's wheels (the folder that has nvidia/, or that
# folder); then /usr/local/cuda*.
file(GLOB sonde_cuda_folders LIST_DIRECTORIES true /usr/local/cuda /usr/local/cuda-*)
list(SORT sonde_cuda_folders COMPARE NATURAL)
if(CUDAToolkit_ROOT)
  set(sonde_cuda_folders "${CUDAToolkit_ROOT}")
elseif(DEFINED ENV{CUDAToolkit_ROOT})
  set(sonde_cuda_folders "$ENV{CUDAToolkit_ROOT}")
endif()
set(sonde_cuda_suffixes "")
foreach(part "" cuda_runtime/ cuda_cupti/ cu13/ nvidia/cuda_runtime/ nvidia/cuda_cupti/ nvidia/cu13/)
  list(APPEND sonde_cuda_suffixes ${part}include ${part}extras/CUPTI/include)
endforeach()
foreach(header cuda cuda_runtime_api cupti)
  find_path(SONDE_${header}_INCLUDE_DIR ${header}.h PATHS ${sonde_cuda_folders}
            PATH_SUFFIXES ${sonde_cuda_suffixes} NO_DEFAULT_PATH)
  mark_as_advanced(SONDE_${header}_INCLUDE_DIR)
endforeach()

set(SONDE_HAVE_CUPTI OFF)
set(SONDE_CUDA_INCLUDE_DIRS "")
set(SONDE_CUPTI_API_VERSION 0)
if(SONDE_cuda_INCLUDE_DIR AND SONDE_cuda_runtime_api_INCLUDE_DIR AND SONDE_cupti_INCLUDE_DIR)
  set(SONDE_HAVE_CUPTI ON)
  set(SONDE_CUDA_INCLUDE_DIRS "${SONDE_cupti_INCLUDE_DIR}" "${SONDE_cuda_INCLUDE_DIR}"
      "${SONDE_cuda_runtime_api_INCLUDE_DIR}")
  list(REMOVE_DUPLICATES SONDE_CUDA_INCLUDE_DIRS)
  file(STRINGS "${SONDE_cupti_INCLUDE_DIR}/cupti_version.h" sonde_cupti_version REGEX "define CUPTI_API_VERSION ")
  string(REGEX REPLACE "[^0-9]+" "" SONDE_CUPTI_API_VERSION "${sonde_cupti_version}")
  message(STATUS "CUDA headers: ${SONDE_CUDA_INCLUDE_DIRS}, CUPTI ${SONDE_CUPTI_API_VERSION}")
endif()

# sonde_gpu_program(TARGET SOURCE OUTPUT headers…): a program for real GPUs, built with nvcc if it
# is installed.
find_program(SONDE_NVCC nvcc PATHS ${CUDAToolkit_ROOT}/bin /usr/local/cuda/bin)
mark_as_advanced(SONDE_NVCC)
function(sonde_gpu_program target source output)
  if(NOT SONDE_NVCC)
    message(STATUS "${target} not built: there is no nvcc")
    return()
  endif()
  cmake_path(GET output PARENT_PATH folder)
  add_custom_command(OUTPUT "${output}" DEPENDS ${source} ${ARGN} VERBATIM
    COMMAND ${CMAKE_COMMAND} -E make_directory "${folder}"
    COMMAND ${SONDE_NVCC} -std=c++17 -O2 -arch=all-major -I "${PROJECT_SOURCE_DIR}" -o "${output}"
            "${CMAKE_CURRENT_SOURCE_DIR}/${source}" -ldl
    COMMENT "Compiling ${target} with nvcc")
  add_custom_target(${target} ALL DEPENDS "${output}")
endfunction()
