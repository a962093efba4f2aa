# cmake -DLOCALEDEF=<program> -DFOLDER=<folder> -P locale_test.cmake: makes the locale de_DE.UTF-8 in the folder, which LOCPATH names to the
# entries <entry>.locale. Without the sources of locales (Debian: package locales) these run in a locale of C++ only, and say so.
file(MAKE_DIRECTORY "${FOLDER}")
execute_process(COMMAND "${LOCALEDEF}" --no-archive -i de_DE -f UTF-8 "${FOLDER}/de_DE.UTF-8" RESULT_VARIABLE result
  OUTPUT_VARIABLE text ERROR_VARIABLE text)
if(NOT result EQUAL 0)
  message(STATUS "skipped: localedef cannot make de_DE.UTF-8: ${text}")
else()
  message(STATUS "made ${FOLDER}/de_DE.UTF-8")
endif()
