# sonde_join(TARGET sources…): compiles the sources of each folder together, about ten at a time.
# The compiler reads their headers once, which halves the time. SONDE_QUICK_BUILD=OFF compiles each
# file alone and so finds missing includes.
function(sonde_join target)
  if(NOT SONDE_QUICK_BUILD)
    return()
  endif()
  foreach(source ${ARGN})
    cmake_path(GET source PARENT_PATH folder)
    string(MAKE_C_IDENTIFIER "${target}_${folder}" room)
    math(EXPR joined_${room} "0${joined_${room}} + 1")
    math(EXPR part "(${joined_${room}} - 1) / 10")
    set_property(SOURCE "${source}" PROPERTY UNITY_GROUP "${room}_${part}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # GCC treats a joined file as a header; g++ 12 at -O3 reports a growing vector as writing outside
  # of an empty array.
  target_compile_options(${target} PRIVATE "$<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>"
    "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Release>>:-Wno-array-bounds>")
endfunction()

# sonde_sources(OUTPUT folders…): every .cpp in these folders of the current one.
function(sonde_sources output)
  set(found)
  foreach(folder ${ARGN})
    file(GLOB sources CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp")
    list(APPEND found ${sources})
  endforeach()
  set(${output} ${found} PARENT_SCOPE)
endfunction()

# sonde_library(NAME [sources…] [FOLDERS folders…] [LINK targets…]): a static library with a sonde:: alias.
function(sonde_library name)
  cmake_parse_arguments(ARG "" "" "FOLDERS;LINK" ${ARGN})
  sonde_sources(sources ${ARG_FOLDERS})
  list(APPEND sources ${ARG_UNPARSED_ARGUMENTS})
  add_library(sonde_${name} STATIC ${sources})
  sonde_join(sonde_${name} ${sources})
  add_library(sonde::${name} ALIAS sonde_${name})
  target_link_libraries(sonde_${name} PUBLIC ${ARG_LINK} PRIVATE sonde_flags)
  target_include_directories(sonde_${name} PUBLIC "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}")
endfunction()

# sonde_format(NAME file.proto): a library of protoc's code for a format, as generated/<file>.pb.h,
# compiled without sonde_flags.
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

# sonde_test(NAME [sources…] [FOLDERS folders…] [LINK targets…] [LABEL label]): one GoogleTest
# program; each TEST is a ctest case.
function(sonde_test name)
  cmake_parse_arguments(ARG "" "LABEL" "FOLDERS;LINK" ${ARGN})
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  sonde_sources(sources ${ARG_FOLDERS})
  add_executable(${name} ${sources} ${ARG_UNPARSED_ARGUMENTS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/bin")
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest_main GTest::gmock fmt::fmt sonde_flags)
  if(SONDE_QUICK_BUILD)  # sonde_test_headers: tests/CMakeLists.txt
    target_compile_options(${name} PRIVATE ${SONDE_TEST_FLAGS})
    target_precompile_headers(${name} REUSE_FROM sonde_test_headers)
  endif()
  gtest_discover_tests(${name} PROPERTIES LABELS "${ARG_LABEL}" DISCOVERY_TIMEOUT 60
                       WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
endfunction()

# sonde_target(NAME sources… [LINK targets…]): a tiny program that a test runs, in
# build/<preset>/tests/targets.
function(sonde_target name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/targets")
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE ${ARG_LINK} Threads::Threads)
endfunction()
