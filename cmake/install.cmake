# cmake --install: the program, the library, the public headers, and what find_package and pkg-config need.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/wisecrowd)
install(TARGETS wisecrowd_engine EXPORT wisecrowd-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT wisecrowd-targets NAMESPACE wisecrowd:: DESTINATION ${package_dir})
install(DIRECTORY include/wisecrowd ${CMAKE_BINARY_DIR}/include/wisecrowd DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.hpp")

configure_package_config_file(cmake/wisecrowd-config.cmake.in ${CMAKE_BINARY_DIR}/wisecrowd-config.cmake
  INSTALL_DESTINATION ${package_dir})
# Before 1.0 a new minor version may change the API.
write_basic_package_version_file(${CMAKE_BINARY_DIR}/wisecrowd-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/wisecrowd-config.cmake ${CMAKE_BINARY_DIR}/wisecrowd-config-version.cmake
  DESTINATION ${package_dir})

# The prefix is known for sure only at install time (cmake --install --prefix), so the file is written then.
install(CODE "
  set(PROJECT_VERSION \"${PROJECT_VERSION}\")
  set(PROJECT_DESCRIPTION \"${PROJECT_DESCRIPTION}\")
  set(CMAKE_INSTALL_LIBDIR \"${CMAKE_INSTALL_LIBDIR}\")
  set(CMAKE_INSTALL_INCLUDEDIR \"${CMAKE_INSTALL_INCLUDEDIR}\")
  string(REPLACE \" \" \"\\\\ \" prefix \"\${CMAKE_INSTALL_PREFIX}\")
  configure_file(\"${CMAKE_CURRENT_SOURCE_DIR}/cmake/wisecrowd.pc.in\" \"${CMAKE_BINARY_DIR}/wisecrowd.pc\" @ONLY)
")
install(FILES ${CMAKE_BINARY_DIR}/wisecrowd.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
