# SONDE_PORTABLE: `cmake --install` makes a directory that runs on another Linux machine. `sonde` needs glibc alone:
# SQLite, fmt, toml++ and the C++ runtime are in it. `sonde-gui` brings Qt and what that needs in lib/sonde/bundled, found by an
# RPATH; see docs/installing.md. Included before the packages are looked for.
if(NOT SONDE_PORTABLE)
  find_package(SQLite3 3.40 REQUIRED)
  find_package(fmt 9 REQUIRED)
  find_package(tomlplusplus REQUIRED)
  return()
endif()

find_library(SONDE_SQLITE_ARCHIVE NAMES libsqlite3.a)
if(NOT SONDE_SQLITE_ARCHIVE)
  message(FATAL_ERROR "SONDE_PORTABLE needs a static SQLite, libsqlite3.a (Debian: libsqlite3-dev)")
endif()
set(SQLite3_LIBRARY "${SONDE_SQLITE_ARCHIVE}")
find_package(SQLite3 3.40 REQUIRED)
target_link_libraries(SQLite::SQLite3 INTERFACE Threads::Threads m ${CMAKE_DL_LIBS})

# Debian has no static fmt and toml++; their headers alone do.
function(sonde_header_only target header definition)
  string(MAKE_C_IDENTIFIER "SONDE_${header}_DIR" folder)
  find_path(${folder} ${header} REQUIRED)
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${target} INTERFACE "${${folder}}")
  target_compile_definitions(${target} INTERFACE ${definition})
endfunction()
sonde_header_only(fmt::fmt fmt/format.h FMT_HEADER_ONLY=1)
sonde_header_only(tomlplusplus::tomlplusplus toml++/toml.h TOML_HEADER_ONLY=1)

# sonde_portable_gui(): beside sonde-gui install the libraries and Qt plugins that it needs.
function(sonde_portable_gui)
  # DT_RPATH, not DT_RUNPATH: it also holds for what Qt's own libraries and plugins need.
  target_link_options(sonde-gui PRIVATE -Wl,--disable-new-dtags)
  set_target_properties(sonde-gui PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/sonde/bundled")
  set(plugins)
  foreach(plugin platforms/libqxcb.so platforms/libqoffscreen.so platforms/libqminimal.so platforms/libqvnc.so
                 platforminputcontexts/libcomposeplatforminputcontextplugin.so)
    set(file "${QT6_INSTALL_PREFIX}/${QT6_INSTALL_PLUGINS}/${plugin}")
    if(NOT EXISTS "${file}")
      message(FATAL_ERROR "SONDE_PORTABLE needs Qt's plugin ${file} (Debian: qt6-qpa-plugins)")
    endif()
    list(APPEND plugins "${file}")
  endforeach()
  configure_file("${PROJECT_SOURCE_DIR}/cmake/bundle_gui.cmake.in" "${PROJECT_BINARY_DIR}/bundle_gui.cmake.in" @ONLY)
  file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/bundle_gui.cmake" INPUT "${PROJECT_BINARY_DIR}/bundle_gui.cmake.in")
  install(SCRIPT "${PROJECT_BINARY_DIR}/bundle_gui.cmake")
endfunction()
