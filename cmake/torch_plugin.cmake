# The plugin with everything that needs libtorch. It is a library of its own that the program loads when a cnn, a
# TorchScript model or an export is asked for: loading libtorch takes half a second, which other commands must not pay.
option(WISECROWD_BUILD_TORCH "Build the libtorch plugin (cnn, TorchScript models, export to TorchScript)" ON)
set(WISECROWD_PLUGIN_DIR ${CMAKE_INSTALL_LIBDIR}/wisecrowd)

# Where the installed program looks, seen from its own folder.
file(RELATIVE_PATH plugin_from_program /prefix/${CMAKE_INSTALL_BINDIR} /prefix/${WISECROWD_PLUGIN_DIR})
set_source_files_properties(src/learn/shared/torch_plugin.cpp PROPERTIES
  COMPILE_DEFINITIONS WISECROWD_PLUGIN_FOLDER="${plugin_from_program}")
target_link_libraries(wisecrowd_engine PRIVATE ${CMAKE_DL_LIBS})

if(WISECROWD_BUILD_TORCH)
  find_package(Torch QUIET)
endif()
if(NOT Torch_FOUND)
  message(STATUS "No libtorch (Debian: libtorch-dev libopenblas0-openmp): the models linear and mlp work; cnn, TorchScript "
    "models and export to TorchScript are off")
  return()
endif()

file(GLOB torch_sources CONFIGURE_DEPENDS src/learn/torch/*.cpp)
list(FILTER torch_sources EXCLUDE REGEX "_test\\.cpp$")
add_library(wisecrowd_torch MODULE ${torch_sources})
target_include_directories(wisecrowd_torch PRIVATE include ${CMAKE_BINARY_DIR}/include src)
target_link_libraries(wisecrowd_torch PRIVATE wisecrowd_flags torch ${TORCH_LIBRARIES})
# Nothing but the door is visible, and nothing is left for the program to provide.
if(NOT WISECROWD_SANITIZE)
  target_link_options(wisecrowd_torch PRIVATE -Wl,-z,defs)
endif()
set_target_properties(wisecrowd_torch PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR} INSTALL_RPATH_USE_LINK_PATH ON)
install(TARGETS wisecrowd_torch LIBRARY DESTINATION ${WISECROWD_PLUGIN_DIR})
