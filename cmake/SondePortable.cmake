# SONDE_PORTABLE: `cmake --install` makes a directory that runs on another Linux machine. SQLite,
# zlib, fmt and toml++ are linked into the programs. Libraries that only exist as shared ones
# (simdjson, Qt), protobuf, and their dependencies including the C++ runtime are in
# lib/sonde/bundled, found by an RPATH; see docs/installing.md. Include this before looking for
# packages.
if(NOT SONDE_PORTABLE)
  find_package(SQLite3 3.40 REQUIRED)
  find_package(fmt 9 REQUIRED)
  find_package(tomlplusplus REQUIRED)
  return()
endif()

function(sonde_static_library variable file package)
  find_library(${variable} NAMES ${file})
  if(NOT ${variable})
    message(FATAL_ERROR "SONDE_PORTABLE needs the static library ${file} (Debian: ${package})")
  endif()
endfunction()
sonde_static_library(SQLite3_LIBRARY libsqlite3.a libsqlite3-dev)
sonde_static_library(ZLIB_LIBRARY libz.a zlib1g-dev)
find_package(SQLite3 3.40 REQUIRED)
target_link_libraries(SQLite::SQLite3 INTERFACE Threads::Threads m ${CMAKE_DL_LIBS})

# Debian has no static fmt and toml++; their headers alone are enough.
function(sonde_header_only target header definition)
  string(MAKE_C_IDENTIFIER "SONDE_${header}_DIR" folder)
  find_path(${folder} ${header} REQUIRED)
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${target} INTERFACE "${${folder}}")
  target_compile_definitions(${target} INTERFACE ${definition})
endfunction()
sonde_header_only(fmt::fmt fmt/format.h FMT_HEADER_ONLY=1)
sonde_header_only(tomlplusplus::tomlplusplus toml++/toml.h TOML_HEADER_ONLY=1)

# sonde_portable_program(TARGET): bundles what it needs.
function(sonde_portable_program target)
  # DT_RPATH, not DT_RUNPATH: it also applies to dependencies of the bundled libraries.
  target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/sonde/bundled")
  set_property(GLOBAL APPEND PROPERTY SONDE_PORTABLE_PROGRAMS "$<TARGET_FILE:${target}>")
endfunction()

# sonde_portable_qt(): bundles Qt's plugins, too.
function(sonde_portable_qt)
  foreach(plugin platforms/libqxcb.so platforms/libqoffscreen.so platforms/libqminimal.so platforms/libqvnc.so
                 platforminputcontexts/libcomposeplatforminputcontextplugin.so)
    set(file "${QT6_INSTALL_PREFIX}/${QT6_INSTALL_PLUGINS}/${plugin}")
    if(NOT EXISTS "${file}")
      message(FATAL_ERROR "SONDE_PORTABLE needs Qt's plugin ${file} (Debian: qt6-qpa-plugins)")
    endif()
    set_property(GLOBAL APPEND PROPERTY SONDE_PORTABLE_PLUGINS "${file}")
  endforeach()
endfunction()

# sonde_install_bundle(): call after all programs; installs what they need.
function(sonde_install_bundle)
  get_property(programs GLOBAL PROPERTY SONDE_PORTABLE_PROGRAMS)
  get_property(plugins GLOBAL PROPERTY SONDE_PORTABLE_PLUGINS)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/bundle.cmake.in" "${PROJECT_BINARY_DIR}/bundle.cmake.in" @ONLY)
  file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/bundle.cmake" INPUT "${PROJECT_BINARY_DIR}/bundle.cmake.in")
  install(SCRIPT "${PROJECT_BINARY_DIR}/bundle.cmake")
endfunction()
