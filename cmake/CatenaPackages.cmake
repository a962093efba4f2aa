# Debian packages by CPack: cpack --config <build>/CPackConfig.cmake -B <folder>. Of the whole tree with shared libraries only.
#
# The preset `package` is made for them: with the prefix /usr, GNUInstallDirs chooses Debian's lib/<architecture>, and the libraries have no
# path of search of their own. Another build gives packages that work, with the libraries in /usr/lib.
find_program(CATENA_DPKG dpkg)
find_program(CATENA_GZIP gzip)
mark_as_advanced(CATENA_DPKG CATENA_GZIP)
if(NOT PROJECT_IS_TOP_LEVEL OR NOT BUILD_SHARED_LIBS OR NOT TARGET catena_ndarray OR NOT TARGET catena_training OR NOT CATENA_DPKG OR NOT CATENA_GZIP)
  return()
endif()

# Debian's tools take the maintainer of a package from these variables of the environment.
if(DEFINED ENV{DEBEMAIL})
  set(maintainer "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
else()
  set(maintainer "Catena developers <catena@localhost>")
endif()
set(CATENA_PACKAGE_MAINTAINER "${maintainer}" CACHE STRING "The maintainer of Debian packages: name <address>")

set(release 1)  # of the packages of one version
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME catena)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "${CATENA_PACKAGE_MAINTAINER}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has one of its own
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_POST_BUILD_SCRIPTS "${CATENA_ROOT}/packaging/debian/finish.cmake")
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SOURCE catena)
set(CPACK_DEBIAN_PACKAGE_RELEASE ${release})
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)  # with exactly this version
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
foreach(folder kernels ndarray autograd nn training)
  list(APPEND CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${PROJECT_BINARY_DIR}/${folder}")
endforeach()

# What every package has beside its files: the licences, and Debian's list of changes: the versions of CHANGELOG.md with their dates.
set(made "${PROJECT_BINARY_DIR}/package/debian")
file(STRINGS "${CATENA_ROOT}/CHANGELOG.md" versions REGEX "^## .[0-9]+[.][0-9]+[.][0-9]+. - ")
set(changes "")
foreach(line IN LISTS versions)
  string(REGEX MATCH "([0-9.]+)[^0-9]*- (.*)$" line "${line}")
  set(version ${CMAKE_MATCH_1})
  execute_process(COMMAND date -u -R -d "${CMAKE_MATCH_2}" OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(APPEND changes "catena (${version}-${release}) unstable; urgency=medium\n\n"
    "  * Version ${version}. CHANGELOG.md in the package catena-doc says what is new.\n\n -- ${CATENA_PACKAGE_MAINTAINER}  ${date}\n\n")
endforeach()
if(NOT changes MATCHES "^catena \\(${PROJECT_VERSION}-")
  message(STATUS "catena: Debian packages: no (CHANGELOG.md does not begin with ## [${PROJECT_VERSION}] - <year>-<month>-<day>)")
  return()
endif()
file(WRITE "${made}/changelog.Debian" "${changes}")
foreach(page catena-warm-up.1 catena-run.1)
  configure_file("${CATENA_ROOT}/packaging/debian/${page}" "${made}/${page}" @ONLY)
endforeach()
execute_process(COMMAND ${CATENA_GZIP} -9nkf "${made}/changelog.Debian" "${made}/catena-warm-up.1" "${made}/catena-run.1"
  COMMAND_ERROR_IS_FATAL ANY)

# catena_package(<component> <package> <section> <synopsis> <further lines> [DEPENDS <component>...])
function(catena_package component package section synopsis lines)
  cmake_parse_arguments(arg "" "" "DEPENDS" ${ARGN})
  cpack_add_component(${component} DEPENDS ${arg_DEPENDS})
  string(TOUPPER ${component} name)
  set(documents "${CMAKE_INSTALL_DATAROOTDIR}/doc/${package}")
  install(FILES "${CATENA_ROOT}/packaging/debian/copyright" "${made}/changelog.Debian.gz" DESTINATION "${documents}"
    COMPONENT ${component} EXCLUDE_FROM_ALL)
  set(overrides "${CATENA_ROOT}/packaging/debian/${component}.lintian-overrides")
  if(EXISTS "${overrides}")
    configure_file("${overrides}" "${made}/${package}.lintian-overrides" @ONLY)
    install(FILES "${made}/${package}.lintian-overrides" DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/lintian/overrides" RENAME ${package}
      COMPONENT ${component} EXCLUDE_FROM_ALL)
  endif()
  set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} ${component} PARENT_SCOPE)
  set(CPACK_COMPONENT_${name}_DEPENDS "${arg_DEPENDS}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${name}_PACKAGE_NAME ${package} PARENT_SCOPE)
  set(CPACK_DEBIAN_${name}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  set(CPACK_DEBIAN_${name}_DESCRIPTION "${synopsis}\n${lines}" PARENT_SCOPE)
endfunction()

set(about "Catena is two C++20 libraries: ndarray has n-dimensional arrays with NumPy's
semantics on NVIDIA GPUs and on the CPU; autograd, nn and training are a
define-by-run framework of neural networks in the tradition of Chainer, with
derivatives of any order.\n\nThis package contains ")
set(v ${CATENA_SOVERSION})
include(CPackComponent)
catena_package(ndarray libcatena-ndarray${v} libs "n-dimensional arrays like NumPy's, for C++ (shared libraries)"
  "${about}the shared libraries of ndarray.")
catena_package(ndarray_dev libcatena-ndarray-dev libdevel "n-dimensional arrays like NumPy's, for C++ (development files)"
  "${about}the headers of ndarray and its files for CMake and\npkg-config." DEPENDS ndarray)
catena_package(training libcatena-training${v} libs "define-by-run neural networks for C++ (shared libraries)"
  "${about}the shared libraries of autograd, nn and training." DEPENDS ndarray)
catena_package(training_dev libcatena-training-dev libdevel "define-by-run neural networks for C++ (development files)"
  "${about}the headers of autograd, nn and training and their\nfiles for CMake and pkg-config."
  DEPENDS training ndarray_dev)
catena_package(tools catena-tools utils "n-dimensional arrays like NumPy's, for C++ (programs)"
  "${about}catena-warm-up, which compiles the kernels of ndarray\nfor a GPU in advance, and catena-run, which starts the processes of distributed\ntraining." DEPENDS ndarray)
catena_package(doc catena-doc doc "n-dimensional arrays and neural networks for C++ (documents)"
  "${about}the guide and the sources of the example programs.")
set(CPACK_DEBIAN_DOC_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_NDARRAY_PACKAGE_SUGGESTS g++)  # compiles kernels that a program gives as text
set(CPACK_DEBIAN_NDARRAY_DEV_PACKAGE_SUGGESTS catena-doc)
if(TARGET catena_nn_hdf5)
  catena_package(hdf5 libcatena-training${v}-hdf5 libs "define-by-run neural networks for C++ (HDF5 files)"
    "${about}what reads and writes HDF5 files of models." DEPENDS training)
  set(CPACK_DEBIAN_TRAINING_PACKAGE_RECOMMENDS "libcatena-training${v}-hdf5 (= ${PROJECT_VERSION}-${release})")
endif()
if(TARGET catena_training_mpi)
  catena_package(mpi libcatena-training${v}-mpi libs "define-by-run neural networks for C++ (MPI)"
    "${about}the module for processes that mpirun starts." DEPENDS training)
  set(CPACK_DEBIAN_TRAINING_PACKAGE_SUGGESTS "libcatena-training${v}-mpi (= ${PROJECT_VERSION}-${release})")
endif()
if(CATENA_KERNEL_ARCHITECTURES)
  list(JOIN CATENA_KERNEL_ARCHITECTURES ", " architectures)
  catena_package(kernels catena-kernels libs "n-dimensional arrays like NumPy's, for C++ (compiled kernels)"
    "${about}compiled kernels for GPUs with the compute capabilities\n${architectures} (without their points), so that programs do not compile\nthem at their first call." DEPENDS ndarray)
  set(CPACK_DEBIAN_KERNELS_PACKAGE_ARCHITECTURE all)
endif()
install(FILES "${made}/catena-warm-up.1.gz" "${made}/catena-run.1.gz" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT tools EXCLUDE_FROM_ALL)
include(CPack)
