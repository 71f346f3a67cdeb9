# What `cmake --install` puts where: bin/, lib/sonde/, include/sonde/ and the CMake package of <sonde/sonde.h>.
include(CMakePackageConfigHelpers)
install(TARGETS sonde_api EXPORT SondeTargets)
install(FILES "${PROJECT_SOURCE_DIR}/plugins/api/sonde.h" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/sonde")
install(EXPORT SondeTargets NAMESPACE Sonde:: DESTINATION lib/sonde/cmake)
