# Called by CPack with the packages that it has made. Their libraries lie in folders of the linker, for which CPack has written scripts that
# call ldconfig; Debian's way is a trigger, which takes one call for all packages and needs no shell. Packages with files in
# lib/<architecture> may be installed for several architectures at once. Of OpenBLAS, the build that can be limited to the calling thread is
# preferred, as by CatenaFindDependency.cmake.
foreach(package IN LISTS CPACK_PACKAGE_FILES)
  set(folder "${package}.content")
  execute_process(COMMAND dpkg-deb -R "${package}" "${folder}" COMMAND_ERROR_IS_FATAL ANY)
  if(EXISTS "${folder}/DEBIAN/postinst")
    file(REMOVE "${folder}/DEBIAN/postinst" "${folder}/DEBIAN/postrm")
    file(WRITE "${folder}/DEBIAN/triggers" "activate-noawait ldconfig\n")
  endif()
  # CMake installs the folders of a tree of headers, also those in which there is no header.
  execute_process(COMMAND find "${folder}/usr" -type d -empty -delete COMMAND_ERROR_IS_FATAL ANY)
  file(READ "${folder}/DEBIAN/control" control)
  string(REPLACE " libopenblas0," " libopenblas0-openmp | libopenblas0," control "${control}")
  file(GLOB multiarch "${folder}/usr/lib/*-linux-gnu*")
  if(multiarch)
    string(REGEX REPLACE "(Architecture: [^\n]*)" "\\1\nMulti-Arch: same" control "${control}")
  elseif(control MATCHES "Package: catena-")
    string(REGEX REPLACE "(Architecture: [^\n]*)" "\\1\nMulti-Arch: foreign" control "${control}")
  endif()
  file(WRITE "${folder}/DEBIAN/control" "${control}")
  execute_process(COMMAND dpkg-deb --root-owner-group -Zxz -b "${folder}" "${package}" OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  file(REMOVE_RECURSE "${folder}")
endforeach()
