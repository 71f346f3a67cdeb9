# Targets for call stacks: libunwind for other address spaces, and elfutils' libdw with libelf. Does
# not link libunwind.so, the part for a program's own stack: it would replace the compiler's for
# thrown exceptions.
find_path(SONDE_LIBUNWIND_INCLUDE_DIR libunwind.h REQUIRED)
find_library(SONDE_LIBUNWIND NAMES unwind-generic REQUIRED)
find_path(SONDE_LIBDW_INCLUDE_DIR elfutils/libdwfl.h REQUIRED)
find_library(SONDE_LIBDW NAMES dw REQUIRED)
find_library(SONDE_LIBELF NAMES elf REQUIRED)
mark_as_advanced(SONDE_LIBUNWIND_INCLUDE_DIR SONDE_LIBUNWIND SONDE_LIBDW_INCLUDE_DIR SONDE_LIBDW SONDE_LIBELF)

add_library(libunwind::libunwind INTERFACE IMPORTED GLOBAL)
target_include_directories(libunwind::libunwind INTERFACE "${SONDE_LIBUNWIND_INCLUDE_DIR}")
target_link_libraries(libunwind::libunwind INTERFACE "${SONDE_LIBUNWIND}")
add_library(libdw::libdw INTERFACE IMPORTED GLOBAL)
target_include_directories(libdw::libdw INTERFACE "${SONDE_LIBDW_INCLUDE_DIR}")
target_link_libraries(libdw::libdw INTERFACE "${SONDE_LIBDW}" "${SONDE_LIBELF}")
