# All options for configuring, and the flags that all targets share.

option(SONDE_GUI "Build sonde-gui (needs Qt 6 Widgets and Svg)" ON)
option(SONDE_TESTS "Build the tests (needs GoogleTest)" ON)
option(SONDE_BENCH "Build the benchmarks" ON)
option(SONDE_PORTABLE "Install a directory that runs on other machines; see docs/installing.md" OFF)
option(SONDE_QUICK_BUILD "Compile files of a folder together, and headers of tests once" ON)
option(SONDE_FUZZ "Build the fuzzers (needs clang); see tests/fuzz" OFF)
set(SONDE_SANITIZE "" CACHE STRING "Sanitizers for everything but the preload library, e.g. address,undefined")
set(SONDE_REFERENCE_DATA "" CACHE PATH "Folder of real traces with a peer's numbers (tests labelled reference)")

# With ccache, no build on this machine compiles again what another one has compiled, in any folder.
find_program(SONDE_CCACHE ccache)
mark_as_advanced(SONDE_CCACHE)
foreach(language C CXX)
  if(SONDE_CCACHE AND NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
    set(CMAKE_${language}_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
                                            CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros ${SONDE_CCACHE})
  endif()
endforeach()

# -g1: debuggers and backtraces show lines but no variables, and compiling takes a quarter less
# time. CMAKE_BUILD_TYPE=Debug has both.
foreach(language C CXX)
  string(REPLACE "-g " "-g1 " CMAKE_${language}_FLAGS_RELWITHDEBINFO "${CMAKE_${language}_FLAGS_RELWITHDEBINFO} ")
endforeach()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

# Build tree and install have one layout: bin/, lib/sonde/ (never multiarch).
set(SONDE_BIN_DIR "${PROJECT_BINARY_DIR}/bin")
set(SONDE_LIB_DIR "${PROJECT_BINARY_DIR}/lib/sonde")
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${SONDE_BIN_DIR}")

add_library(sonde_flags INTERFACE)
target_compile_options(sonde_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
  -Werror)
# At -O3 g++ 12 warns of an overlap in std::string's own operator+ (GCC bug 105651), and of
# uninitialised alternatives of a copied std::variant (GCC bug 105562). Neither can happen.
target_compile_options(sonde_flags INTERFACE
  "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict;-Wno-maybe-uninitialized>")
target_compile_options(sonde_flags INTERFACE "$<$<COMPILE_LANGUAGE:C>:-Wno-pedantic>")
target_include_directories(sonde_flags INTERFACE "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}")

# Links programs of the dev preset with mold if it is installed. Release builds use the system's linker.
find_program(SONDE_MOLD mold)
mark_as_advanced(SONDE_MOLD)
if(SONDE_MOLD AND CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_link_options(sonde_flags INTERFACE -fuse-ld=mold)
endif()

if(SONDE_FUZZ)
  set(SONDE_SANITIZE "fuzzer-no-link,address,undefined")
endif()
if(SONDE_SANITIZE)
  # vptr opens pipes to look at objects, and some tests run out of descriptors on purpose.
  target_compile_options(sonde_flags INTERFACE -fsanitize=${SONDE_SANITIZE} -fno-sanitize=vptr -fno-omit-frame-pointer
                         -fno-sanitize-recover=all)
  target_link_options(sonde_flags INTERFACE -fsanitize=${SONDE_SANITIZE})
endif()
