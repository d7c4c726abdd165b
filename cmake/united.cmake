# wisecrowd_unite(TARGET NAME SIZE FILE...): the FILEs are compiled SIZE at a time, so that templates which they share (JSON
# above all) are unfolded once for all of them: half of the time. For what only reads, writes and shows: arithmetic stays
# in files of its own, where nothing beside it can change how it is compiled. Neighbours share their unnamed namespaces, so
# names in them must differ.
option(WISECROWD_UNITE "Compile neighbouring files together, which takes half of the time; off: each by itself" ON)
function(wisecrowd_unite target name size)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${WISECROWD_UNITE} UNITY_BUILD_MODE GROUP)
  set(place 0)
  foreach(file IN LISTS ARGN)
    math(EXPR group "${place} / ${size}")
    set_property(SOURCE ${file} PROPERTY UNITY_GROUP ${name}_${group})
    math(EXPR place "${place} + 1")
  endforeach()
endfunction()
