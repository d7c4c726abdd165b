# Plugins: libraries of ours that the program loads when what they bring is asked for (src/base/plugin.hpp).
set(WISECROWD_PLUGIN_DIR ${CMAKE_INSTALL_LIBDIR}/wisecrowd)
set(WISECROWD_PLUGINS "")  # the targets that are built

# Where the installed program looks, seen from its own folder.
file(RELATIVE_PATH plugin_from_program /prefix/${CMAKE_INSTALL_BINDIR} /prefix/${WISECROWD_PLUGIN_DIR})
set_source_files_properties(src/base/plugin.cpp PROPERTIES
  COMPILE_DEFINITIONS WISECROWD_PLUGIN_FOLDER="${plugin_from_program}")
target_link_libraries(wisecrowd_engine PRIVATE ${CMAKE_DL_LIBS})

# wisecrowd_plugin(TARGET FOLDER LIBRARY...): the sources of FOLDER become libTARGET.so beside the program.
function(wisecrowd_plugin target folder)
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  add_library(${target} MODULE ${sources})
  target_include_directories(${target} PRIVATE include ${CMAKE_BINARY_DIR}/include src)
  target_link_libraries(${target} PRIVATE wisecrowd_flags ${ARGN})
  # Nothing but the door is visible, and nothing is left for the program to provide.
  if(NOT WISECROWD_SANITIZE)
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
  set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR} INSTALL_RPATH_USE_LINK_PATH ON)
  # ./run builds the program alone until a plugin is asked for.
  install(TARGETS ${target} LIBRARY DESTINATION ${WISECROWD_PLUGIN_DIR} COMPONENT program OPTIONAL)
  set(WISECROWD_PLUGINS ${WISECROWD_PLUGINS} ${target} PARENT_SCOPE)
endfunction()

include(cmake/torch_plugin.cmake)
include(cmake/png_plugin.cmake)
include(cmake/tls_plugin.cmake)
add_custom_target(plugins)
if(WISECROWD_PLUGINS)
  add_dependencies(plugins ${WISECROWD_PLUGINS})
endif()
