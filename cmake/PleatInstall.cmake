# Installation: the library with its headers and packages for CMake and pkg-config; what archives carry.
include(CMakePackageConfigHelpers)

# Debian's packages depend on packages of the libraries that pleat links to. Archives and wheels are for
# other distributions (docs/decisions/0045): they contain libraries of C++, carry those of C in a folder of
# their own, and have what glibc 2.28 lacks.
option(PLEAT_BUNDLE "Install files that need libraries of glibc alone" OFF)
if(PLEAT_BUNDLE)
  set(excluded PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|dl|gcc_s|m|mvec|pthread|rt)\\.so")
  install(RUNTIME_DEPENDENCY_SET pleat_libraries ${excluded}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/pleat)
  if(TARGET pleat_python)
    install(RUNTIME_DEPENDENCY_SET pleat_python_libraries ${excluded}
      LIBRARY DESTINATION pleat/libs COMPONENT python EXCLUDE_FROM_ALL)
    set_target_properties(${PLEAT_PYTHON_TARGETS} PROPERTIES INSTALL_RPATH "$ORIGIN/libs")
  endif()
  pleat_carry_libraries(pleat ${PLEAT_PYTHON_TARGETS})
  file(RELATIVE_PATH libraries /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR}/pleat)
  set_target_properties(pleat PROPERTIES INSTALL_RPATH "$ORIGIN/pleat")
  if(TARGET pleat_program)
    pleat_carry_libraries(pleat_program)
    pleat_old_start(pleat_program)
    set_target_properties(pleat_program PROPERTIES INSTALL_RPATH "$ORIGIN/${libraries}")
  endif()
endif()

install(TARGETS pleat EXPORT pleat RUNTIME_DEPENDENCY_SET pleat_libraries
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} FILE_SET HEADERS)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/CITATION.cff
  ${PROJECT_SOURCE_DIR}/packaging/debian/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(DIRECTORY ${PROJECT_SOURCE_DIR}/data/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples
  FILES_MATCHING PATTERN "*.gz" PATTERN README.md PATTERN oracles EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/examples/strongest_contacts.cpp
  DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)

file(RELATIVE_PATH PLEAT_PREFIX_FROM_PC /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" PLEAT_PREFIX_FROM_PC ${PLEAT_PREFIX_FROM_PC})
configure_file(${CMAKE_CURRENT_LIST_DIR}/pleat.pc.in ${PROJECT_BINARY_DIR}/pleat.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/pleat.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/pleat)
install(EXPORT pleat NAMESPACE pleat:: FILE pleat-targets.cmake DESTINATION ${package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/pleat-config.cmake.in
  ${PROJECT_BINARY_DIR}/pleat-config.cmake INSTALL_DESTINATION ${package_dir})
# Before 1.0 a new minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/pleat-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/pleat-config.cmake
  ${PROJECT_BINARY_DIR}/pleat-config-version.cmake DESTINATION ${package_dir})
