# The program of a table of training programs: awk -F '\t' -v out=<file> -v scene=<header> -f training_spellings.awk <table>
# A row that compiles is a function: the statement, then its check, in one block. One that raises is a function that looks for the message.
BEGIN { print "#include \"" scene "\"\nusing namespace std::literals;\nnamespace spellings {\nnamespace {" > out }
/^#/ { next }
NF != 5 { print FILENAME ":" FNR ": a row has five columns, this one " NF; failed = 1; next }
$4 != "first" && $4 != "differs" && $4 != "mended" && $4 != "throws" && $4 != "raises" && $4 != "hint" && $4 != "not" { print FILENAME ":" FNR ": the outcome is " $4; failed = 1; next }
$5 == "" { print FILENAME ":" FNR ": nothing is checked"; failed = 1; next }
$4 == "first" || $4 == "differs" || $4 == "mended" || $4 == "throws" || $4 == "raises" {
  if ($4 == "raises") {
    text = $5
    gsub(/"/, "\\\"", text)
    $2 = "std::string said; try { " $2
    $5 = "} catch (const std::exception& error) { said = error.what(); } CHECK(said.find(\"" text "\") != said.npos);"
  }
  printf "void %s(const std::string& folder) {\n  Scene scene(folder);\n  SCENE_NAMES = scene;\n", $1 > out
  printf "#line %d \"%s\"\n  { %s\n#line %d \"%s\"\n    %s }\n}\n", FNR, FILENAME, $2, FNR, FILENAME, $5 > out
  rows = rows sprintf("  {\"%s\", %s},\n", $1, $1)
  ++n
}
END {
  printf "}\nconst Row kRows[] = {\n%s};\nconst int kNumRows = %d;\n}\n", rows, n > out
  exit failed
}
