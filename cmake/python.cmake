# The Python package: python/bindings becomes wisecrowd/_engine, the files of python/wisecrowd stand beside it.
# Needs an interpreter with its headers, and pybind11 (Debian: python3-dev pybind11-dev python3-numpy python3-pandas).
set(python_wanted ON)
if(WISECROWD_SANITIZE)
  set(python_wanted OFF)  # the interpreter would have to be a sanitized one
endif()
option(WISECROWD_BUILD_PYTHON "Build the Python package where Python's headers and pybind11 are found" ${python_wanted})
if(NOT WISECROWD_BUILD_PYTHON)
  return()
endif()

if(SKBUILD)
  find_package(Python REQUIRED COMPONENTS Interpreter Development.Module)
  find_package(pybind11 CONFIG REQUIRED)
else()
  # The interpreter of the system: Debian's pandas and pybind11 belong to it, not to one that stands before it in PATH.
  if(NOT DEFINED Python_EXECUTABLE AND EXISTS /usr/bin/python3)
    set(Python_EXECUTABLE /usr/bin/python3)
  endif()
  find_package(Python QUIET COMPONENTS Interpreter Development.Module)
  find_package(pybind11 CONFIG QUIET)
  if(NOT Python_Development.Module_FOUND OR NOT pybind11_FOUND)
    message(STATUS "No headers of Python or no pybind11 (Debian: python3-dev pybind11-dev): the Python package is not built")
    return()
  endif()
endif()

file(GLOB binding_sources CONFIGURE_DEPENDS python/bindings/*.cpp)
pybind11_add_module(wisecrowd_python MODULE NO_EXTRAS ${binding_sources})
target_link_libraries(wisecrowd_python PRIVATE wisecrowd_engine wisecrowd_flags)
target_include_directories(wisecrowd_python PRIVATE python/bindings)
# Visible is the door of the module alone: another module may bring another version of the same libraries.
target_link_options(wisecrowd_python PRIVATE -Wl,--exclude-libs,ALL)
wisecrowd_precompile(wisecrowd_python <pybind11/numpy.h> <pybind11/pybind11.h> <pybind11/stl.h>)
set(python_tree ${CMAKE_BINARY_DIR}/python)
set(engine_name _engine)
if(WISECROWD_CPU_LEVEL)
  set(engine_name _engine_${WISECROWD_CPU_LEVEL})  # python/wisecrowd/_cpu.py chooses
endif()
set_target_properties(wisecrowd_python PROPERTIES OUTPUT_NAME ${engine_name} CXX_VISIBILITY_PRESET hidden
  LIBRARY_OUTPUT_DIRECTORY ${python_tree}/wisecrowd)

# In the build tree the package is whole as well (PYTHONPATH=build/release/python): links to the sources.
file(GLOB package_files CONFIGURE_DEPENDS python/wisecrowd/*.py python/wisecrowd/*.pyi python/wisecrowd/py.typed)
file(GLOB subpackage_files CONFIGURE_DEPENDS python/wisecrowd/aggregation/*.py python/wisecrowd/aggregation/*.pyi)
file(MAKE_DIRECTORY ${python_tree}/wisecrowd/aggregation)
foreach(file IN LISTS package_files subpackage_files)
  file(RELATIVE_PATH name ${CMAKE_CURRENT_SOURCE_DIR}/python ${file})
  file(CREATE_LINK ${file} ${python_tree}/${name} SYMBOLIC)
endforeach()
# Links to files that moved would hide the package of the same name.
file(REMOVE ${python_tree}/wisecrowd/aggregation.py ${python_tree}/wisecrowd/aggregation.pyi)
if(TARGET wisecrowd_torch)
  add_custom_command(TARGET wisecrowd_python POST_BUILD COMMAND ${CMAKE_COMMAND} -E create_symlink
    $<TARGET_FILE:wisecrowd_torch> ${python_tree}/wisecrowd/$<TARGET_FILE_NAME:wisecrowd_torch>)
endif()

# Nothing is installed of a package that was not built: ./run builds the program alone.
if(SKBUILD)
  set(python_destination wisecrowd)
else()
  set(python_destination lib/python${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}/site-packages/wisecrowd)
endif()
set(python_installed ${package_files})
list(APPEND python_installed $<TARGET_FILE:wisecrowd_python>)
if(TARGET wisecrowd_torch)
  list(APPEND python_installed $<TARGET_FILE:wisecrowd_torch>)
endif()
list(JOIN python_installed "\" \"" python_installed)  # paths may hold blanks
list(JOIN subpackage_files "\" \"" subpackage_installed)
install(CODE "
  if(EXISTS \"$<TARGET_FILE:wisecrowd_python>\")
    file(INSTALL \"${python_installed}\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${python_destination}\")
    file(INSTALL \"${subpackage_installed}\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${python_destination}/aggregation\")
  endif()" COMPONENT python)
