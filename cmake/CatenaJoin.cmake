# Joined compilations: half of what compiling a file takes are headers and what is instantiated for all of them, so that a few neighbours
# are compiled in one go. An edit compiles the neighbours again; -DCATENA_JOIN_SOURCES=OFF compiles each file alone.

# catena_join(<target> FOLDER <name> FROM <folder> [APART] [LARGE] SOURCES <file>...): adds the sources, relative to FROM (which is
# catena/<name> for includes), to the target. Files of one folder are neighbours, at most six or, with LARGE, ten. With APART each has a
# namespace of its own.
function(catena_join target)
  cmake_parse_arguments(arg "APART;LARGE" "FOLDER;FROM" "SOURCES" ${ARGN})
  set(most 6)
  set(last "^[01]")
  if(arg_LARGE)
    set(most 10)
    set(last "^0")
  endif()
  set(neighbours "")
  set(folder "")
  list(SORT arg_SOURCES)
  foreach(source IN LISTS arg_SOURCES)
    get_filename_component(folder_of_source "${source}" DIRECTORY)
    if(NOT folder_of_source STREQUAL folder)
      catena_join_group(${target} ${neighbours})
      set(neighbours "")
      set(folder "${folder_of_source}")
    endif()
    list(APPEND neighbours "${source}")
    # Where a group ends is a matter of the names in it, so that a new file changes one group.
    list(LENGTH neighbours count)
    get_filename_component(name "${source}" NAME_WE)
    string(MD5 hash "${name}")
    if(count EQUAL most OR hash MATCHES "${last}" OR NOT CATENA_JOIN_SOURCES)
      catena_join_group(${target} ${neighbours})
      set(neighbours "")
    endif()
  endforeach()
  catena_join_group(${target} ${neighbours})
endfunction()

# Of catena_join, whose arguments it sees: the sources become one compilation.
function(catena_join_group target)
  list(LENGTH ARGN count)
  set(sources ${ARGN})
  list(TRANSFORM sources PREPEND "${arg_FROM}/")
  if(count GREATER 1)
    list(GET ARGN 0 first)
    string(REGEX REPLACE "\\.cpp$" "" name "${first}")
    set(joined "${CMAKE_CURRENT_BINARY_DIR}/joined/${target}/${name}_and_others.cpp")
    add_custom_command(
      OUTPUT "${joined}"
      COMMAND ${CMAKE_COMMAND} "-DOUT=${joined}" "-DFOLDER=${arg_FOLDER}" "-DFROM=${arg_FROM}" "-DAPART=${arg_APART}" "-DSOURCES=${ARGN}"
        -P "${CATENA_CMAKE_DIR}/join.cmake"
      DEPENDS ${sources} "${CATENA_CMAKE_DIR}/join.cmake"
      COMMENT "Joining ${ARGN}"
      VERBATIM)
    set(sources "${joined}")
  endif()
  target_sources(${target} PRIVATE ${sources})
endfunction()
