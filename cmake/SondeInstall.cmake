# The files that `cmake --install` installs. The install has the layout of the build tree, bin/ and
# lib/sonde/: `sonde` finds its libraries at ../lib/sonde. It also has the C header with its CMake
# package, man pages and completion scripts.
include(CMakePackageConfigHelpers)

install(TARGETS sonde RUNTIME DESTINATION bin)
if(TARGET sonde-gui)
  install(TARGETS sonde-gui RUNTIME DESTINATION bin)
  set(desktop "${PROJECT_SOURCE_DIR}/gui/desktop")
  install(FILES "${desktop}/sonde.desktop" DESTINATION share/applications)
  install(FILES "${desktop}/sonde.svg" DESTINATION share/icons/hicolor/scalable/apps)
  install(FILES "${desktop}/sonde.xml" DESTINATION share/mime/packages)
  install(FILES "${desktop}/example.sonde" DESTINATION share/sonde)
endif()
install(DIRECTORY "${SONDE_LIB_DIR}/" DESTINATION lib/sonde USE_SOURCE_PERMISSIONS
        PATTERN "__pycache__" EXCLUDE)

install(FILES "${PROJECT_SOURCE_DIR}/plugins/api/sonde.h" "${PROJECT_SOURCE_DIR}/plugins/api/sonde_plugin.h"
        "${PROJECT_SOURCE_DIR}/plugins/api/sonde_question.h" "${PROJECT_SOURCE_DIR}/plugins/api/sonde_rule.h"
        DESTINATION include/sonde)
install(TARGETS sonde_api EXPORT SondeTargets INCLUDES DESTINATION include)
install(EXPORT SondeTargets NAMESPACE Sonde:: DESTINATION lib/cmake/Sonde)
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/SondeConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/SondeConfig.cmake" INSTALL_DESTINATION lib/cmake/Sonde)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/SondeConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/SondeConfig.cmake" "${PROJECT_BINARY_DIR}/SondeConfigVersion.cmake"
        DESTINATION lib/cmake/Sonde)
install(DIRECTORY "${PROJECT_BINARY_DIR}/share/" DESTINATION share)
if(SONDE_PORTABLE)
  sonde_install_bundle()
endif()
install(FILES LICENSE README.md CHANGELOG.md DESTINATION share/doc/sonde)
foreach(example ballsim.h ballsim.c bounce.c ballsim_probe.c cached_loads.c open_files.cpp)
  install(FILES "${PROJECT_SOURCE_DIR}/plugins/examples/${example}" DESTINATION share/doc/sonde/examples)
endforeach()
