# Installs what catena_library() defined: libraries, headers under include/catena, and one targets file per component, so that
# find_package(catena COMPONENTS ndarray) works whether ndarray was installed alone or with the rest.
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/catena")
get_property(components GLOBAL PROPERTY CATENA_INSTALL_COMPONENTS)
foreach(component IN LISTS components)
  get_property(folder GLOBAL PROPERTY CATENA_FOLDER_${component})
  get_property(uses GLOBAL PROPERTY CATENA_USES_${component})
  get_property(depends GLOBAL PROPERTY CATENA_DEPENDS_${component})
  file(RELATIVE_PATH relative "${CATENA_ROOT}" "${folder}")

  install(TARGETS catena_${component} EXPORT catena-${component}
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT catena-${component} FILE catena-${component}-targets.cmake NAMESPACE catena:: DESTINATION ${package_dir})
  install(DIRECTORY "${folder}/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/catena/${relative}" FILES_MATCHING PATTERN "*.h")

  # Targets that must exist before the targets file is read: other components, and for archives their dependencies.
  if(BUILD_SHARED_LIBS)
    set(uses "")
  else()
    list(FILTER uses EXCLUDE REGEX "^fmt$")
  endif()
  file(WRITE "${PROJECT_BINARY_DIR}/package/catena-${component}-depends.cmake"
    "set(catena_${component}_components \"${depends}\")\nset(catena_${component}_dependencies \"${uses}\")\n")
  install(FILES "${PROJECT_BINARY_DIR}/package/catena-${component}-depends.cmake" DESTINATION ${package_dir})
endforeach()

if("training" IN_LIST components AND EXISTS "${CATENA_ROOT}/catena.h")
  install(FILES "${CATENA_ROOT}/catena.h" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/catena")
endif()

write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/catena-config-version.cmake"
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES
  "${CATENA_CMAKE_DIR}/catena-config.cmake"
  "${CATENA_CMAKE_DIR}/CatenaFindDependency.cmake"
  "${PROJECT_BINARY_DIR}/package/catena-config-version.cmake"
  DESTINATION ${package_dir})
