# Sets SONDE_GLOO_BUILD_ID to the build id of the shared libgloo whose headers are installed, and
# SONDE_GLOO_LIBRARY to that library. Both are empty without such a library; then the Gloo probe is
# not built.
find_path(SONDE_GLOO_INCLUDE_DIR gloo/allreduce.h)
find_library(SONDE_GLOO_LIBRARY NAMES libgloo.so)
set(SONDE_GLOO_BUILD_ID "")
if(SONDE_GLOO_INCLUDE_DIR AND SONDE_GLOO_LIBRARY)
  execute_process(COMMAND ${CMAKE_READELF} --notes --wide "${SONDE_GLOO_LIBRARY}"
                  OUTPUT_VARIABLE notes ERROR_QUIET)
  if(notes MATCHES "Build ID: ([0-9a-f]+)")
    set(SONDE_GLOO_BUILD_ID "${CMAKE_MATCH_1}")
  endif()
endif()
if(SONDE_GLOO_BUILD_ID)
  message(STATUS "Gloo probe: for ${SONDE_GLOO_LIBRARY}, build id ${SONDE_GLOO_BUILD_ID}")
else()
  message(STATUS "Gloo probe: not built, no shared libgloo with headers (Debian: libgloo-dev)")
endif()
