# Installs a build, moves the installed tree, builds the consumer project against it and runs both; then
# an example by pkg-config.
cmake_minimum_required(VERSION 3.25)

# step(what command...): runs a command; the test fails with its output when the command fails.
function(step what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output
                  ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${what}: expected exit status 0, found ${status}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# expect(what text regex)
function(expect what text regex)
  if(NOT text MATCHES "${regex}")
    message(FATAL_ERROR "${what}: expected text matching '${regex}', found '${text}'")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
step("install" ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/first)
file(RENAME ${WORK}/first ${WORK}/moved)

# PRIVATE parts of the build must not leak into what a consumer reads.
file(GLOB_RECURSE package ${WORK}/moved/*pleat-*.cmake)
foreach(file IN LISTS package)
  file(READ ${file} text)
  if(text MATCHES "${BUILD}|pleat_options|/first/")
    message(FATAL_ERROR "${file}: expected no trace of the build, found '${CMAKE_MATCH_0}'")
  endif()
endforeach()

step("configure" ${CMAKE_COMMAND} -G ${GENERATOR} -S ${CONSUMER} -B ${WORK}/build
  -D CMAKE_PREFIX_PATH=${WORK}/moved -D CMAKE_CXX_COMPILER=${CXX}
  -D CMAKE_CXX_FLAGS=${CXX_FLAGS})
step("build" ${CMAKE_COMMAND} --build ${WORK}/build)
step("run the consumer" ${WORK}/build/consumer)
expect("the consumer's output" "${output}" "3 sequences\nbroken.aln:3: expected 5 .*found 4")

file(GLOB_RECURSE package ${WORK}/moved/*/pleat.pc)
cmake_path(GET package PARENT_PATH package)
set(ENV{PKG_CONFIG_PATH} ${package})
step("ask pkg-config" ${PKG_CONFIG} --modversion pleat)
expect("the version that pkg-config knows" "${output}" "^${VERSION}\n$")
step("ask pkg-config" ${PKG_CONFIG} --cflags --libs pleat)
string(STRIP "${output}" flags)
separate_arguments(flags)
cmake_path(GET package PARENT_PATH libraries)
step("build the example" ${CXX} ${CXX_FLAGS} -std=c++20 ${EXAMPLE} ${flags}
  -Wl,-rpath,${libraries} -o ${WORK}/example)
step("run the example" ${WORK}/example ${ALIGNMENT})
expect("the example's output" "${output}" "\n      63        78  0.0596\n")

step("run the installed program" ${WORK}/moved/bin/pleat --version)
expect("pleat --version" "${output}" "${VERSION}")

foreach(file IN ITEMS man/man1/pleat.1 man/man1/pleat-mi.1 bash-completion/completions/pleat
    zsh/site-functions/_pleat fish/vendor_completions.d/pleat.fish)
  if(NOT EXISTS ${WORK}/moved/share/${file})
    message(FATAL_ERROR "expected share/${file} among what is installed, found none")
  endif()
endforeach()
