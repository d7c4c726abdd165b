# Run by ctest: install, then find_package and pkg-config from outside.
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "failed (${status}): ${command}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(expect_in text)
  if(NOT output MATCHES "${text}")
    message(FATAL_ERROR "expected '${text}' in:\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
set(prefix "${WORK_DIR}/the prefix")
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${prefix})

# The whole public API and nothing private.
file(GLOB_RECURSE installed RELATIVE "${prefix}/include" "${prefix}/include/*")
foreach(header IN ITEMS wisecrowd/wisecrowd.hpp wisecrowd/version.hpp wisecrowd/aggregate.hpp)
  if(NOT header IN_LIST installed)
    message(FATAL_ERROR "${header} was not installed: ${installed}")
  endif()
endforeach()
foreach(header IN LISTS installed)
  if(NOT header MATCHES "^wisecrowd/[a-z_]+\\.hpp$")
    message(FATAL_ERROR "installed by mistake: ${header}")
  endif()
endforeach()
run("${prefix}/bin/wisecrowd" --version)
foreach(plugin IN LISTS PLUGINS)
  if(NOT EXISTS "${prefix}/${LIBDIR}/wisecrowd/lib${plugin}.so")
    message(FATAL_ERROR "the plugin ${plugin} was not installed where the program looks for it")
  endif()
endforeach()
if("wisecrowd_png" IN_LIST PLUGINS)
  run("${prefix}/bin/wisecrowd" select --simulate hammer_spammer --tasks 20 --crowd 5 --seeds 1 --policies random
    --out "${WORK_DIR}/replayed")
  if(NOT EXISTS "${WORK_DIR}/replayed/curves.png")
    message(FATAL_ERROR "the installed program does not find the plugin that draws PNG pictures:\n${output}")
  endif()
endif()

# find_package
run(${CMAKE_COMMAND} -S ${EXAMPLE_DIR} -B ${WORK_DIR}/example -G ${GENERATOR} -DCMAKE_BUILD_TYPE=Release
  -DCMAKE_CXX_COMPILER=${COMPILER} "-DCMAKE_PREFIX_PATH=${prefix}")
run(${CMAKE_COMMAND} --build ${WORK_DIR}/example)
run(${WORK_DIR}/example/review_labels)
expect_in("review 1: good")
expect_in("review 3: good")
expect_in("review 6: bad")
set(by_cmake "${output}")

# pkg-config: the paths of its answer have escaped spaces, so a shell must read it.
file(WRITE ${WORK_DIR}/by_pkg_config.sh
  "set -e\nexport PKG_CONFIG_PATH='${prefix}/${LIBDIR}/pkgconfig'\n"
  "eval \"'${COMPILER}' -std=c++20 '${EXAMPLE_DIR}/main.cpp' -o '${WORK_DIR}/by_pkg_config' $(pkg-config --cflags --libs wisecrowd)\"\n")
run(sh ${WORK_DIR}/by_pkg_config.sh)
run(${WORK_DIR}/by_pkg_config)
if(NOT output STREQUAL by_cmake)
  message(FATAL_ERROR "the program built by pkg-config says something else:\n${output}\nby find_package:\n${by_cmake}")
endif()
