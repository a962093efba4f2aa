# Rules of C++ sources that a formatter does not see: awk -f lint.awk <file>... prints one line per violation.
#   order      after the first block of includes, which may be the header that the file is about, the headers of other libraries stand
#              before those of Catena (tests are free)
#   using      no "using namespace" of a whole header
#   length     no file of more than 800 lines
#   descriptors  a source of a library that opens files or sockets includes kernels/base/descriptors.h, which keeps them from taking the
#              places of standard streams that are closed
#   locale     the libraries make and read text by kernels/base/text.h, std::to_chars, std::from_chars and fmt: string streams, printf,
#              strtod, std::stoi, the functions of <cctype> and fmt's L follow the locale that a program sets. Two files may use them:
#              text.cpp prints in the C locale by a format of the user, and concat in error.cpp calls the operator<< of other types
#              with the classic locale. (What goes into other streams is looked for by tests/locale_symbols_test.cmake.)
function report(rule, what) { print FILENAME ":" FNR ": " rule ": " what; failed = 1 }
function finish() {
  if (lines > 800) { print previous ": length: " lines " lines, at most 800"; failed = 1 }
  if (opens && !guarded && previous !~ /^(tests|examples|benchmarks)\//) { print previous ":" opens ": descriptors: see kernels/base/descriptors.h"; failed = 1 }
}
FNR == 1 { finish(); previous = FILENAME; opens = guarded = seen = 0; block = 0; inside = 0; depth = 0; after_condition = 0 }
{ lines = FNR }
FILENAME ~ /^(kernels|ndarray|autograd|nn|training)\// && FILENAME !~ /^kernels\/base\/(error|text)[.]cpp$/ {
  code = $0
  sub(/\/\/.*/, "", code)
  if (code ~ /(^|[^a-z_.>])(std::|::)?(v?s?n?printf|v?fprintf|v?dprintf|v?[sf]?scanf|strto(d|f|ld|l|ll|ul|ull|imax|umax)|ato(i|l|ll|f)|sto(i|l|ll|ul|ull|f|d|ld)|strf(time|mon)|strcoll|strxfrm|is(alnum|alpha|blank|cntrl|digit|graph|lower|print|punct|space|upper|xdigit)|to(lower|upper)|(set|new|use|dup)locale|localeconv)\(/ || code ~ /std::(o|i)?stringstream|# *include <(sstream|iomanip|cctype|ctype.h|locale|clocale|locale.h|regex|format)>|std::(put_time|get_time|put_money|locale)|[.]imbue\(|\{[^{}"]*:[^{}"]*L\}/)
    report("locale", $0 " depends on the locale")
}
/^# *include </ {
  if (!inside) ++block
  inside = 1
  if ($0 ~ /kernels\/base\/descriptors\.h/) guarded = 1
  is_ours = $0 ~ /<(catena\/|expect\.h)/
  if (is_ours && block > 1) seen = 1
  else if (!is_ours && seen && !after_condition && FILENAME !~ /^tests\//) report("order", $0 " stands after a header of Catena")
  next
}
{ inside = 0 }
/::(open|openat|socket|socketpair|pipe|pipe2|opendir|mkstemp|memfd_create|fopen)\(|std::[io]?fstream |H5F(open|create)\(/ && !/^ *\/\// && !/^[a-zA-Z].*\) (const )?\{/ { opens = FNR }
/^#(if|else|endif)/ { after_condition = 1 }
/^namespace .*\{$/ { ++depth }
/^\}  \/\/ namespace/ { --depth }
/^using namespace/ { if (FILENAME ~ /\.h$/ && depth == 0) report("using", $0) }
END { finish(); exit failed }
