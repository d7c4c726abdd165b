# Uses ccache where there is one. With -march=native the same command line means different code on different CPUs, so
# the CPU's flags choose the cache's namespace. Paths are hashed as seen from the checkout, so checkouts share what they
# compiled; with precompiled headers ccache wants to hear that no macro such as __TIME__ matters.
if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(WISECROWD_CCACHE ccache)
  mark_as_advanced(WISECROWD_CCACHE)
  if(WISECROWD_CCACHE)
    set(cpu "")
    if(EXISTS /proc/cpuinfo)
      file(STRINGS /proc/cpuinfo cpu REGEX "^(flags|Features)" LIMIT_COUNT 1)
    endif()
    string(MD5 cpu_hash "${cpu}")
    set(CMAKE_CXX_COMPILER_LAUNCHER env "CCACHE_NAMESPACE=wisecrowd-${cpu_hash}" "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}"
      CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros "${WISECROWD_CCACHE}")
  endif()
endif()
