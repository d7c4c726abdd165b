# The report's page (web/): npm brings its libraries, esbuild makes one HTML file of it, and the program carries that file.
# Everything made lies in the build folder. Needs node >= 18 with npm (Debian: npm) and, the first time, the npm registry.
set(WISECROWD_REPORT AUTO CACHE STRING "The HTML page of `wisecrowd report`: ON, OFF, or AUTO (on where npm can bring its libraries)")
set_property(CACHE WISECROWD_REPORT PROPERTY STRINGS AUTO ON OFF)
set(WISECROWD_REPORT_PAGE OFF)
if(NOT WISECROWD_REPORT)
  message(STATUS "Report: off (WISECROWD_REPORT); `wisecrowd report` will write no page")
  return()
endif()

# Says why there is no page: an error only for those who asked for it.
function(report_is_off reason)
  if(WISECROWD_REPORT STREQUAL "AUTO")
    message(STATUS "Report: ${reason}: `wisecrowd report` will write no page; configure again when that is mended")
  else()
    message(FATAL_ERROR "Report: ${reason}. Configure with -DWISECROWD_REPORT=OFF to build without the page.")
  endif()
endfunction()

# pip builds in folders that are gone the next time, with whatever node stood there.
foreach(tool WISECROWD_NODE WISECROWD_NPM)
  if(${tool} AND NOT EXISTS "${${tool}}")
    unset(${tool} CACHE)
  endif()
endforeach()
find_program(WISECROWD_NODE NAMES node nodejs)
find_program(WISECROWD_NPM npm)
mark_as_advanced(WISECROWD_NODE WISECROWD_NPM)
if(NOT WISECROWD_NODE OR NOT WISECROWD_NPM)
  report_is_off("no node or no npm (Debian: apt-get install npm)")
  return()
endif()
execute_process(COMMAND ${WISECROWD_NODE} --version OUTPUT_VARIABLE node_version OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
string(REGEX REPLACE "^v" "" node_version "${node_version}")
if(node_version VERSION_LESS 18)
  report_is_off("${WISECROWD_NODE} is version '${node_version}', but 18 or later is needed")
  return()
endif()

# npm_packages(SOURCE FOLDER RESULT): what SOURCE/package-lock.json names, brought to FOLDER/node_modules; RESULT is empty
# when that worked or was done before, otherwise what npm said. A whole-hearted `npm ci` at every configure would take
# seconds, so a stamp keeps what is there.
function(npm_packages source folder result)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source}/package.json ${source}/package-lock.json)
  file(SHA256 ${source}/package-lock.json wanted)
  set(stamp ${folder}/packages.stamp)
  if(EXISTS ${stamp} AND IS_DIRECTORY ${folder}/node_modules)
    file(READ ${stamp} present)
    if(present STREQUAL "${wanted} ${node_version}")
      set(${result} "" PARENT_SCOPE)
      return()
    endif()
  endif()
  file(REMOVE ${stamp})
  file(MAKE_DIRECTORY ${folder})
  file(COPY ${source}/package.json ${source}/package-lock.json DESTINATION ${folder})
  # No package needs its install scripts here; what is not run cannot do harm.
  execute_process(
    COMMAND ${WISECROWD_NPM} ci --ignore-scripts --no-audit --no-fund --prefer-offline --fetch-retries=1 --loglevel=error
    WORKING_DIRECTORY ${folder} RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said TIMEOUT 300)
  if(failed)
    string(REGEX REPLACE "npm (ERR!|error) " "" said "${said}")
    string(REGEX MATCHALL "[^\n]+" said "${said}")
    if(said)
      list(SUBLIST said 0 4 said)  # the rest is npm's own stack
      list(JOIN said ", " said)
    endif()
    set(${result} "npm could not bring the packages of ${source}/package-lock.json (${failed}: ${said})" PARENT_SCOPE)
    return()
  endif()
  file(WRITE ${stamp} "${wanted} ${node_version}")
  set(${result} "" PARENT_SCOPE)
endfunction()

set(report_folder ${CMAKE_BINARY_DIR}/report)
npm_packages(${CMAKE_SOURCE_DIR}/web ${report_folder} npm_failed)
if(npm_failed)
  report_is_off("${npm_failed}")
  return()
endif()

file(GLOB report_sources CONFIGURE_DEPENDS web/build.mjs web/page.html web/src/*.js web/src/*/*.js web/style/*.css)
add_custom_command(
  OUTPUT ${report_folder}/report.html ${report_folder}/page.cpp
  COMMAND ${WISECROWD_NODE} ${CMAKE_SOURCE_DIR}/web/build.mjs --modules ${report_folder}/node_modules
    --out ${report_folder}/report.html --cpp ${report_folder}/page.cpp
  DEPENDS ${report_sources} ${report_folder}/packages.stamp
  COMMENT "Building the report's page" VERBATIM)
target_sources(wisecrowd_engine PRIVATE ${report_folder}/page.cpp)
set_source_files_properties(src/deliver/report/template.cpp PROPERTIES COMPILE_DEFINITIONS WISECROWD_HAS_REPORT_PAGE)
set(WISECROWD_REPORT_PAGE ON)
message(STATUS "Report: the page is built with node ${node_version}")
