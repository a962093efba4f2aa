# CATENA_VERSION, read from the header, its only definition. Included before project().
file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/../kernels/base/version.h" lines REGEX "^#define CATENA_VERSION_(MAJOR|MINOR|PATCH) ")
string(REGEX REPLACE "[^0-9;]" "" CATENA_VERSION "${lines}")
string(REPLACE ";" "." CATENA_VERSION "${CATENA_VERSION}")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/../kernels/base/version.h")
