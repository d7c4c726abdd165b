# One build for all x86-64 processors (-DWISECROWD_CPU_LEVELS="v2;v3;v4"): the program and the Python module are built once
# for each level and installed side by side. A launcher (apps/launcher), or the package itself (python/wisecrowd/_cpu.py),
# chooses when it starts. All of them give the same bits (ARCHITECTURE.md), so the choice changes nothing but the time.
include(ExternalProject)
include(GNUInstallDirs)
set(levels_targets wisecrowd plugins)
if(SKBUILD)
  set(levels_targets wisecrowd_python)
endif()

# What this build was told, each of its parts is told.
get_cmake_property(told CACHE_VARIABLES)
list(FILTER told INCLUDE REGEX
  "^(WISECROWD_|SKBUILD|Python|pybind11|CMAKE_(PREFIX_PATH|BUILD_TYPE|CXX_COMPILER|CXX_FLAGS|MAKE_PROGRAM|INSTALL_PREFIX)$)")
list(REMOVE_ITEM told WISECROWD_CPU_LEVELS WISECROWD_CPU_LEVEL WISECROWD_MARCH WISECROWD_BUILD_TESTS)
set(arguments "")
foreach(name IN LISTS told)
  string(REPLACE ";" "\\;" value "${${name}}")
  list(APPEND arguments "-D${name}:STRING=${value}")
endforeach()

foreach(level IN LISTS WISECROWD_CPU_LEVELS)
  if(NOT level MATCHES "^v[234]$")
    message(FATAL_ERROR "WISECROWD_CPU_LEVELS: '${level}' is none of v2, v3, v4")
  endif()
  set(folder ${CMAKE_BINARY_DIR}/${level})
  ExternalProject_Add(cpu_${level} SOURCE_DIR ${CMAKE_SOURCE_DIR} BINARY_DIR ${folder} PREFIX ${CMAKE_BINARY_DIR}/parts
    CMAKE_GENERATOR ${CMAKE_GENERATOR}
    CMAKE_CACHE_ARGS ${arguments} -DWISECROWD_MARCH:STRING=x86-64-${level} -DWISECROWD_CPU_LEVEL:STRING=${level}
      -DWISECROWD_BUILD_TESTS:BOOL=OFF
    BUILD_COMMAND ${CMAKE_COMMAND} --build ${folder} --target ${levels_targets}
    INSTALL_COMMAND "" BUILD_ALWAYS ON USES_TERMINAL_BUILD ON)
  list(APPEND parts cpu_${level})
  # One after the other: each takes all processors, and ccache serves the next.
  if(before)
    ExternalProject_Add_StepDependencies(cpu_${level} build ${before})
  endif()
  set(before cpu_${level})
  foreach(component IN ITEMS python program)
    install(CODE "
      execute_process(COMMAND \"${CMAKE_COMMAND}\" --install \"${folder}\" --prefix \"\${CMAKE_INSTALL_PREFIX}\" --component ${component}
        COMMAND_ERROR_IS_FATAL ANY)" COMPONENT ${component})
  endforeach()
endforeach()

if(SKBUILD)
  add_custom_target(wisecrowd_python DEPENDS ${parts})
  return()
endif()
file(RELATIVE_PATH programs /prefix/${CMAKE_INSTALL_BINDIR} /prefix/${CMAKE_INSTALL_LIBDIR}/wisecrowd)
add_executable(wisecrowd apps/launcher/main.cpp)
target_compile_features(wisecrowd PRIVATE cxx_std_20)
target_compile_options(wisecrowd PRIVATE -O2 -march=x86-64)
target_link_options(wisecrowd PRIVATE -static-libstdc++ -static-libgcc)
target_compile_definitions(wisecrowd PRIVATE WISECROWD_PROGRAM_FOLDER="${programs}")
install(TARGETS wisecrowd RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
