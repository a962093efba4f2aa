# An overlay port of the sources in which it lies: vcpkg install catena --overlay-ports=<sources>/packaging/vcpkg/ports
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../../../.." ABSOLUTE)

vcpkg_check_features(OUT_FEATURE_OPTIONS options
  FEATURES
    curl      CATENA_WITH_CURL
    hdf5      CATENA_WITH_HDF5
    images    CATENA_WITH_IMAGES
    onednn    CATENA_WITH_ONEDNN
    openblas  CATENA_WITH_OPENBLAS
)
set(components ndarray)
if("training" IN_LIST FEATURES)
  set(components ndarray autograd nn training)
endif()

vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    ${options}
    "-DCATENA_COMPONENTS=${components}"
    -DCATENA_BUILD_TESTS=OFF
    -DCATENA_BUILD_EXAMPLES=OFF
    -DCATENA_WITH_CUDA_TOOLKIT=OFF
    -DCATENA_WITH_MPI=OFF
  MAYBE_UNUSED_VARIABLES CATENA_WITH_CURL CATENA_WITH_HDF5 CATENA_WITH_IMAGES CATENA_WITH_MPI
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/catena)
vcpkg_fixup_pkgconfig()
set(tools catena-warm-up)
if("training" IN_LIST FEATURES)
  list(APPEND tools catena-run)
endif()
vcpkg_copy_tools(TOOL_NAMES ${tools} AUTO_CLEAN)

# vcpkg removes packages itself, and keeps documents only of the licences.
file(REMOVE
  "${CURRENT_PACKAGES_DIR}/share/catena/install_manifest.txt" "${CURRENT_PACKAGES_DIR}/share/catena/uninstall.cmake"
  "${CURRENT_PACKAGES_DIR}/debug/share/catena/install_manifest.txt")
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share" "${CURRENT_PACKAGES_DIR}/share/doc")
file(INSTALL "${CURRENT_PORT_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE" "${SOURCE_PATH}/NOTICE")
