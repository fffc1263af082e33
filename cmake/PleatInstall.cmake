# Installation: the library with its headers and packages for CMake and pkg-config; what archives carry.
include(CMakePackageConfigHelpers)

# Debian's packages depend on packages of the libraries that pleat links to; archives and wheels for
# other distributions carry them, in a folder of their own.
option(PLEAT_BUNDLE "Install the shared libraries that pleat links to, except those of glibc" OFF)
if(PLEAT_BUNDLE)
  set(glibc "^ld-linux" "^lib(c|dl|m|mvec|pthread|rt)\\.so")
  install(RUNTIME_DEPENDENCY_SET pleat_libraries PRE_EXCLUDE_REGEXES ${glibc}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/pleat)
  if(TARGET pleat_python)
    # Other modules of the same Python process may need a newer libstdc++ than that of this machine.
    install(RUNTIME_DEPENDENCY_SET pleat_python_libraries
      PRE_EXCLUDE_REGEXES ${glibc} "^lib(stdc\\+\\+|gcc_s)\\.so"
      LIBRARY DESTINATION pleat/libs COMPONENT python EXCLUDE_FROM_ALL)
    set_target_properties(pleat_python PROPERTIES INSTALL_RPATH "$ORIGIN/libs")
  endif()
  # LD_LIBRARY_PATH must not replace these libraries by others: a DT_RPATH comes before it.
  foreach(target IN ITEMS pleat pleat_program pleat_python)
    if(TARGET ${target})
      target_link_options(${target} PRIVATE LINKER:--disable-new-dtags)
    endif()
  endforeach()
  file(RELATIVE_PATH libraries /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR}/pleat)
  set_target_properties(pleat PROPERTIES INSTALL_RPATH "$ORIGIN/pleat")
  if(TARGET pleat_program)
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
