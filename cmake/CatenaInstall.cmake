# Installs what catena_library() defined: libraries, headers under include/catena, and one targets file per component, so that
# find_package(catena COMPONENTS ndarray) works whether ndarray was installed alone or with the rest.
#
# CMake's components of the installation are the packages of CatenaPackages.cmake: ndarray, ndarray_dev (kernels and ndarray), training,
# training_dev (the other libraries), hdf5, mpi, tools, doc, and kernels, if some are compiled in advance. `uninstall` is in no package.
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/catena")

# What links a component without CMake. Headers call functions of the libraries below, which linkers do not look for in the
# dependencies of a shared library: -lcatena_<component> finds a linker script that names them all, and there is a pkg-config file.
function(catena_install_for_linking component depends)
  if(component STREQUAL "training" AND TARGET catena_autograd_ndarray)
    list(APPEND depends autograd_ndarray)  # for catena.h, as in catena-config.cmake
  endif()
  set(all "")
  set(left ${component})
  while(left)
    list(POP_FRONT left next)
    if(NOT next IN_LIST all)
      list(APPEND all ${next})
      get_property(more GLOBAL PROPERTY CATENA_DEPENDS_${next})
      list(APPEND left ${more})
      if(next STREQUAL "training")
        list(APPEND left ${depends})
      endif()
    endif()
  endwhile()
  list(TRANSFORM all REPLACE "(.+)" "libcatena_\\1.so.${CATENA_SOVERSION}" OUTPUT_VARIABLE names)
  list(JOIN names " " names)
  file(WRITE "${PROJECT_BINARY_DIR}/package/libcatena_${component}.so" "/* GNU ld script */\nINPUT ( ${names} )\n")
  install(FILES "${PROJECT_BINARY_DIR}/package/libcatena_${component}.so" DESTINATION ${CMAKE_INSTALL_LIBDIR})

  list(TRANSFORM depends PREPEND "catena-")
  list(JOIN depends ", " requires)
  file(RELATIVE_PATH up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  file(WRITE "${PROJECT_BINARY_DIR}/package/catena-${component}.pc"
    "prefix=\${pcfiledir}/${up}\n\nName: catena-${component}\nDescription: The component ${component} of Catena\n"
    "Version: ${PROJECT_VERSION}\nRequires: ${requires}\n"
    "Libs: -L\${prefix}/${CMAKE_INSTALL_LIBDIR} -lcatena_${component}\nCflags: -I\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}\n")
  install(FILES "${PROJECT_BINARY_DIR}/package/catena-${component}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endfunction()

get_property(components GLOBAL PROPERTY CATENA_INSTALL_COMPONENTS)
foreach(component IN LISTS components)
  get_property(folder GLOBAL PROPERTY CATENA_FOLDER_${component})
  get_property(uses GLOBAL PROPERTY CATENA_USES_${component})
  get_property(depends GLOBAL PROPERTY CATENA_DEPENDS_${component})
  file(RELATIVE_PATH relative "${CATENA_ROOT}" "${folder}")
  if(component MATCHES "^(kernels|ndarray)$")
    set(part ndarray)
  else()
    set(part training)
  endif()
  set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME ${part}_dev)

  install(TARGETS catena_${component} EXPORT catena-${component}
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${part} NAMELINK_SKIP
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  if(BUILD_SHARED_LIBS)
    catena_install_for_linking(${component} "${depends}")
  endif()
  install(EXPORT catena-${component} FILE catena-${component}-targets.cmake NAMESPACE catena:: DESTINATION ${package_dir})
  install(DIRECTORY "${folder}/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/catena/${relative}" FILES_MATCHING PATTERN "*.h" PATTERN "*.inc"
    PATTERN "modules" EXCLUDE)  # headers with types of other libraries, for the sources beside them

  # Targets that must exist before the targets file is read: other components, and for archives their dependencies.
  if(BUILD_SHARED_LIBS)
    set(uses "")
  else()
    list(FILTER uses EXCLUDE REGEX "^(fmt|json)$")
  endif()
  file(WRITE "${PROJECT_BINARY_DIR}/package/catena-${component}-depends.cmake"
    "set(catena_${component}_components \"${depends}\")\nset(catena_${component}_dependencies \"${uses}\")\n")
  install(FILES "${PROJECT_BINARY_DIR}/package/catena-${component}-depends.cmake" DESTINATION ${package_dir})
endforeach()

# Modules are loaded by the libraries beside them: nothing is linked to them, so they are in no targets file.
get_property(modules GLOBAL PROPERTY CATENA_MODULES)
foreach(module IN LISTS modules)
  if(module MATCHES "^catena_ndarray_")
    set(part ndarray)
  elseif(module MATCHES "_(hdf5|mpi)$")
    set(part ${CMAKE_MATCH_1})  # a package of its own: the other functions of the library work without it
  else()
    set(part training)
  endif()
  install(TARGETS ${module} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${part})
endforeach()

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME training_dev)
if("training" IN_LIST components AND EXISTS "${CATENA_ROOT}/catena.h")
  install(FILES "${CATENA_ROOT}/catena.h" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/catena")
endif()

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME doc)
install(FILES "${CATENA_ROOT}/CHANGELOG.md" "${CATENA_ROOT}/SECURITY.md" "${CATENA_ROOT}/CITATION.cff" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
if(EXISTS "${CATENA_ROOT}/LICENSE")
  install(FILES "${CATENA_ROOT}/LICENSE" "${CATENA_ROOT}/NOTICE" "${CATENA_ROOT}/README.md" "${CATENA_ROOT}/CONTRIBUTING.md"
    DESTINATION "${CMAKE_INSTALL_DOCDIR}")
  # With the documents to which those lead, so that their links work.
  install(DIRECTORY "${CATENA_ROOT}/docs" DESTINATION "${CMAKE_INSTALL_DOCDIR}"
    FILES_MATCHING PATTERN "*.md" PATTERN "*.png" PATTERN "*.svg" PATTERN "docs/site" EXCLUDE PATTERN "docs/reference/examples" EXCLUDE)
  install(FILES "${CATENA_ROOT}/benchmarks/README.md" DESTINATION "${CMAKE_INSTALL_DOCDIR}/benchmarks")
  install(DIRECTORY "${CATENA_ROOT}/benchmarks/results" DESTINATION "${CMAKE_INSTALL_DOCDIR}/benchmarks" FILES_MATCHING PATTERN "*.md")
  install(DIRECTORY "${CATENA_ROOT}/examples" DESTINATION "${CMAKE_INSTALL_DOCDIR}"
    PATTERN "*.sh" EXCLUDE)
endif()

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME ndarray_dev)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/catena-config-version.cmake"
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES
  "${CATENA_CMAKE_DIR}/catena-config.cmake"
  "${CATENA_CMAKE_DIR}/CatenaFindDependency.cmake"
  "${PROJECT_BINARY_DIR}/package/catena-config-version.cmake"
  DESTINATION ${package_dir})

# The last of the installation: the list of its files, with which uninstall.cmake works without this build folder.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME uninstall)
install(FILES "${CATENA_CMAKE_DIR}/uninstall.cmake" DESTINATION ${package_dir})
install(CODE "set(package_dir \"${package_dir}\")")
install(CODE [[
  set(folder "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${package_dir}")
  file(RELATIVE_PATH text "${CMAKE_INSTALL_PREFIX}/${package_dir}" "${CMAKE_INSTALL_PREFIX}")
  foreach(file IN LISTS CMAKE_INSTALL_MANIFEST_FILES)
    file(RELATIVE_PATH relative "${CMAKE_INSTALL_PREFIX}/${package_dir}" "${file}")
    string(APPEND text "\n${relative}")
  endforeach()
  file(WRITE "${folder}/install_manifest.txt" "${text}\n")
]])
unset(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME)
