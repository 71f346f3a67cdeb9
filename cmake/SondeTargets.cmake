# sonde_library(NAME sources… [LINK targets…]): one static library per folder, with a sonde:: alias.
function(sonde_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(sonde_${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  add_library(sonde::${name} ALIAS sonde_${name})
  target_link_libraries(sonde_${name} PUBLIC ${ARG_LINK} PRIVATE sonde_flags)
  target_include_directories(sonde_${name} PUBLIC "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}")
endfunction()

# sonde_format(NAME file.proto): what protoc makes of a format, as generated/<file>.pb.h, compiled by rules of its own.
function(sonde_format name proto)
  find_package(Protobuf REQUIRED)
  set(folder "${PROJECT_BINARY_DIR}/generated")
  cmake_path(GET proto STEM stem)
  cmake_path(ABSOLUTE_PATH proto BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE source)
  cmake_path(GET source PARENT_PATH sources)
  file(MAKE_DIRECTORY "${folder}")
  add_custom_command(OUTPUT "${folder}/${stem}.pb.cc" "${folder}/${stem}.pb.h"
    COMMAND protobuf::protoc "--cpp_out=${folder}" "--proto_path=${sources}" "${source}"
    DEPENDS "${source}" VERBATIM)
  add_library(sonde_${name} STATIC "${folder}/${stem}.pb.cc")
  target_include_directories(sonde_${name} SYSTEM PUBLIC "${PROJECT_BINARY_DIR}")
  target_link_libraries(sonde_${name} PUBLIC protobuf::libprotobuf-lite)
endfunction()

# sonde_test(NAME sources… [LINK targets…] [LABEL label]): one GoogleTest program; each TEST is a ctest case.
function(sonde_test name)
  cmake_parse_arguments(ARG "" "LABEL" "LINK" ${ARGN})
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/bin")
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest_main GTest::gmock sonde_flags)
  gtest_discover_tests(${name} PROPERTIES LABELS "${ARG_LABEL}" DISCOVERY_TIMEOUT 60
                       WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
endfunction()

# sonde_target(NAME sources… [LINK targets…]): a tiny program that a test runs, in build/<preset>/tests/targets.
function(sonde_target name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/targets")
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE ${ARG_LINK} Threads::Threads)
endfunction()
