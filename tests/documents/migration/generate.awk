# The rows of a migration table as functions of a program: awk -v table=<name> -v unit=<number> -v units=<count> -f generate.awk <table>.tsv
#
# A row is a class with the variables of its table (scene.h), so that a right-hand side compiles as it stands. The class of row 17 of the file
# is Row17; its function run() evaluates the expression or executes the statements. Column `value` says what else is done:
#   (empty), -      it is run
#   compiled        it is compiled only: it needs a GPU, the network, or files
#   ...             it is run, and its value compared with this one (see value.h)
#   name, ... = ... as before, but of these variables after the statements
# Unit 0 has the counts of the table as well.
BEGIN {
  FS = "\t"
  print "#include \"scene.h\""
  print "\nnamespace {"
}
/^#/ || FNR == 2 && $1 == "chapter" { next }
{
  ++rows
  if (NF < 4) { print FILENAME ":" FNR ": " NF " columns, at least 4" > "/dev/stderr"; failed = 1 }
  if ($3 == "-") { ++absent; next }
  ++offered
  if (offered % units != unit) next
  ours = $3
  value = $5
  scene = table "_scene"
  print "\n#line " FNR " \"" FILENAME "\""
  print "struct Row" FNR " : " scene " {"
  if (ours ~ /^(struct|class|template|#include) /) {
    print ours
    print "void run() {}"
  } else {
    print "void run() {"
    print "#line " FNR " \"" FILENAME "\""
    statement = ours ~ /;$/ || ours ~ /^((if|for|while|try) |[{])/
    compared = value != "" && value != "-" && value != "compiled"
    names = ""
    if (compared && match(value, /^[a-z_0-9, ]+ = /)) {
      names = substr(value, 1, RLENGTH - 3)
      value = substr(value, RLENGTH + 1)
    }
    if (statement) print ours
    else if (!compared) print "(void)(" ours ");"
    else print "check(R\"~(" value ")~\", " ours ");"
    if (names != "") print "check(R\"~(" value ")~\", " names ");"
    print "}"
  }
  print "};"
  if (value != "compiled") print "const Registered row_" FNR "(\"" FILENAME ":" FNR "\", [] { Row" FNR "().run(); });"
  else print "[[maybe_unused]] void compiled_" FNR "() { Row" FNR "().run(); }"
}
END {
  print "\n}  // namespace"
  if (unit == 0) print "\nconst Table counts(\"" table "\", " rows + 0 ", " offered + 0 ", " absent + 0 ");"
  exit failed
}
