# The examples of one page of the reference as a part of a program: awk -v page=<name> -v out=<file> -v expected=<file> -f examples.awk <page>.md
#
# A heading "## name, name" begins an example; a block of C++ is its code, a block of text its whole output. <!-- not run --> before the code is
# for an example that needs a GPU, a network or a terminal: it is only compiled. Code ahead of the first heading is for all examples of the page.
# In the code, #include lines and classes and templates that begin a line stand outside of the function that is run.
function finish() {
  if (title == "") return
  if (body == "") { print FILENAME ": no code: " title; failed = 1 }
  printf "namespace example_%d {\n%s[[maybe_unused]] void run() {\n%s}\n}\n", ++count, types, body > out
  if (!skipped) {
    if (!has_output) { print FILENAME ": no output: " title; failed = 1 }
    calls = calls "  {\"" title "\", example_" count "::run},\n"
    printf "## %s\n%s", title, text > expected
  }
  types = body = text = ""
  skipped = has_output = 0
}
BEGIN { printf "" > out; printf "" > expected; print "#include \"examples.h\"\nnamespace {" > out }
/^## / && !inside { finish(); title = substr($0, 4); next }
/^<!-- not run -->$/ { skipped = 1; next }
/^```cpp$/ { inside = "cpp"; line = sprintf("#line %d \"%s\"\n", FNR + 1, FILENAME); if (title != "") body = body line; else print line > out; next }
/^```text$/ { inside = "text"; has_output = 1; next }
/^```$/ { inside = ""; in_type = 0; next }
inside == "text" { text = text $0 "\n"; next }
inside != "cpp" { next }
/^#include/ { print FILENAME ":" FNR ": #include belongs to tests/documents/examples.h"; failed = 1; next }
title == "" { print > out; next }
/^(struct|class|template|enum|concept|NN_|using namespace|namespace) ?/ { in_type = 1; types = types sprintf("#line %d \"%s\"\n", FNR, FILENAME) }
in_type { types = types $0 "\n"; if (/;$/ && /^[^ ]/ || /^}/) in_type = 0; next }
{ body = body $0 "\n" }
END {
  finish()
  printf "}\nconst examples::Page page{\"%s\", {\n%s}};\n", page, calls > out
  exit failed
}
