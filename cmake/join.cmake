# Writes OUT, which includes the files SOURCES of the folder FROM (relative to it, and installed or linked as catena/<FOLDER>). With APART
# each stands in a namespace of its own: what is private to one, or what it says with `using namespace`, is not seen in the next; their
# headers, the includes at their beginnings, then stand first and outside. The path by the include folder is the same in every checkout:
# ccache finds the object in another one.
set(headers "")
set(parts "")
set(number 0)
foreach(source IN LISTS SOURCES)
  math(EXPR number "${number} + 1")
  if(NOT APART)
    string(APPEND parts "#include <catena/${FOLDER}/${source}>\n")
    continue()
  endif()
  file(READ "${FROM}/${source}" text)
  string(REGEX MATCH "^((//[^\n]*|#include [^\n]*)?\n)*" beginning "${text}")
  string(REGEX MATCHALL "#include [<\"][^>\"]*[>\"]" includes "${beginning}")
  list(APPEND headers ${includes})
  string(REGEX MATCHALL "\n#define [A-Za-z_0-9]+" macros "${text}")
  list(TRANSFORM macros REPLACE "\n#define " "#undef ")
  list(JOIN macros "\n" macros)
  string(APPEND parts "\nnamespace part_${number} {\n#include <catena/${FOLDER}/${source}>\n}\n${macros}\n")
endforeach()
list(REMOVE_DUPLICATES headers)
list(JOIN headers "\n" headers)
# A class of a source that has members of its private types is in one compilation only, although GCC takes the source for a header.
set(pragmas "#if defined(__GNUC__) && !defined(__clang__)\n#pragma GCC diagnostic ignored \"-Wsubobject-linkage\"\n#endif")
file(WRITE "${OUT}" "// Made by cmake/join.cmake.\n${pragmas}\n${headers}\n${parts}")
