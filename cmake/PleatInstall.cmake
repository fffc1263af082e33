# Installation: the library with its headers and CMake package, and CPack's archives.
include(CMakePackageConfigHelpers)

install(TARGETS pleat EXPORT pleat
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} FILE_SET HEADERS)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/CITATION.cff
  DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/pleat)
install(EXPORT pleat NAMESPACE pleat:: FILE pleat-targets.cmake DESTINATION ${package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/pleat-config.cmake.in
  ${PROJECT_BINARY_DIR}/pleat-config.cmake INSTALL_DESTINATION ${package_dir})
# Before 1.0 a new minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/pleat-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/pleat-config.cmake
  ${PROJECT_BINARY_DIR}/pleat-config-version.cmake DESTINATION ${package_dir})

set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_NAME pleat)
set(CPACK_PACKAGE_CONTACT "The pleat authors")
set(CPACK_PACKAGE_VENDOR pleat)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
include(CPack)
