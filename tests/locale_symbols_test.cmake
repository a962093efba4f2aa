# cmake -DNM=<nm> -DFILE=<shared library> [-DALLOWED=<regex>] -P locale_symbols_test.cmake: the library must not import functions that write
# or read numbers by the program's locale: those of streams (operator<< of numbers and their extraction), printf, strtod and the like.
# std::to_string(double) and printf are seen here although a template or a header calls them. ALLOWED names symbols of libraries that
# are compiled into it. With -DSELF_TEST=<folder> -DCXX=<compiler> -DNM=<nm> it checks itself.
cmake_minimum_required(VERSION 3.22)

set(patterns
  "_ZNSolsE[bdefijlmstxy]"       # operator<<(bool), (short), ..., (long double)
  "_ZNSolsEPKv|_ZNSo9_M_insertI.*"
  "_ZNSirsER[bdefijlmstxyP].*|_ZNSi10_M_extractI.*"
  "(__)?v?s?n?printf(_chk)?|(__)?v?[fd]printf(_chk)?"
  "(__isoc(99|23)_)?v?[sf]?scanf"
  "(__isoc23_)?strto(d|f|ld|l|ll|ul|ull)(_l)?|strftime|localeconv"
  "__ctype_b_loc|__ctype_tolower_loc|__ctype_toupper_loc|tolower|toupper|is(alnum|alpha|digit|print|space|upper|lower)")

function(imported file result)
  execute_process(COMMAND "${NM}" -D --undefined-only "${file}" OUTPUT_VARIABLE text ERROR_VARIABLE errors RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "nm ${file}: ${errors}")
  endif()
  string(REGEX REPLACE "[ \t]+[UwV] " "" text "${text}")
  string(REGEX REPLACE "@[^\n]*" "" text "${text}")
  string(REPLACE "\n" ";" symbols "${text}")
  set(found "")
  foreach(symbol IN LISTS symbols)
    foreach(pattern IN LISTS patterns)
      if(symbol MATCHES "^(${pattern})$" AND NOT (ALLOWED AND symbol MATCHES "^(${ALLOWED})$"))
        list(APPEND found "${symbol}")
      endif()
    endforeach()
  endforeach()
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

if(SELF_TEST)
  file(MAKE_DIRECTORY "${SELF_TEST}")
  foreach(code "std::ostream& f(std::ostream& o, double v) { return o << v; }" "std::ostream& f(std::ostream& o, int v) { return o << v; }"
      "std::ostream& f(std::ostream& o, unsigned long v) { return o << v; }" "std::istream& f(std::istream& i, int& v) { return i >> v; }"
      "std::istream& f(std::istream& i, double& v) { return i >> v; }" "std::string f(double v) { return std::to_string(v); }"
      "double f(const std::string& s) { return std::stod(s); }" "int f(char* t, double v) { return std::snprintf(t, 9, \"%g\", v); }"
      "int f(char c) { return std::isalnum(c); }")
    file(WRITE "${SELF_TEST}/one.cpp" "#include <cctype>\n#include <cstdio>\n#include <istream>\n#include <ostream>\n#include <string>\n${code}\n")
    execute_process(COMMAND "${CXX}" -std=c++20 -O1 -fPIC -shared "${SELF_TEST}/one.cpp" -o "${SELF_TEST}/one.so" RESULT_VARIABLE status)
    imported("${SELF_TEST}/one.so" found)
    if(NOT status EQUAL 0 OR NOT found)
      message(FATAL_ERROR "not found: ${code}")
    endif()
  endforeach()
  file(WRITE "${SELF_TEST}/good.cpp" "#include <charconv>\n#include <ostream>\n#include <string>\n"
    "std::string f(long v, double d) { char t[40]; return std::to_string(v) + std::string(t, std::to_chars(t, t + 40, d).ptr); }\n"
    "std::ostream& f(std::ostream& o, const std::string& s) { return o << s << ' ' << \"text\"; }\n")
  execute_process(COMMAND "${CXX}" -std=c++20 -O1 -fPIC -shared "${SELF_TEST}/good.cpp" -o "${SELF_TEST}/good.so" RESULT_VARIABLE status)
  imported("${SELF_TEST}/good.so" found)
  if(NOT status EQUAL 0 OR found)
    message(FATAL_ERROR "a good library is refused: ${found}")
  endif()
  message(STATUS "each kind was found")
  return()
endif()

imported("${FILE}" found)
if(found)
  list(JOIN found "\n" found)
  message(FATAL_ERROR "${FILE} imports what depends on the locale (kernels/base/text.h has what does not):\n${found}")
endif()
message(STATUS "${FILE} imports nothing that depends on the locale")
