# The C++ snippets of documents as parts of programs: awk -v out=<folder> -f extract.awk README.md docs/*.md docs/guide/*/*.md
#
# A line <!-- program: name --> stands before each; snippets of one name are one program. <!-- program: name, not run --> is for one that needs
# a GPU or hours. <!-- output: name --> stands before a block of text that continues the program's output, which must be all of it.
#
# Of a snippet, #include lines go to <name>.includes, classes and templates to <name>.types, the rest to <name>.body, the text to <name>.expected.
# The CMake lines of README.md go to snippet.cmake, the names to names: "name" or "name not_run".
FNR == 1 { name = output = ""; inside = in_cmake = in_output = 0 }
/^<!-- program: [a-z_0-9]+(, not run)? -->$/ {
  name = $3
  sub(/,$/, "", name)
  if (/, not run -->$/) skipped[name] = 1
  names[name] = 1
  next
}
/^<!-- output: [a-z_0-9]+ -->$/ { output = $3; next }
/^<!-- (program|output)/ { print FILENAME ":" FNR ": not understood: " $0; failed = 1 }
/^```cpp$/ {
  if (name == "") { print FILENAME ":" FNR ": a snippet without a line <!-- program: name --> before it"; failed = 1 }
  inside = name != ""
  next
}
/^```cmake$/ { in_cmake = FILENAME ~ /README.md$/; next }
/^```text$/ { in_output = output != ""; next }
/^```$/ { inside = in_cmake = in_output = 0; name = output = ""; next }
in_cmake { print > (out "/snippet.cmake"); next }
in_output { print > (out "/" output ".expected"); next }
!inside { next }
/^#include/ { print > (out "/" name ".includes"); next }
/^(struct|class|template) / { in_type = 1 }
in_type { print > (out "/" name ".types"); if (/^};?$/ || /^[^ ].*};?$/) in_type = 0; next }
{ print > (out "/" name ".body") }
END {
  for (name in names) print name (name in skipped ? " not_run" : "") > (out "/names")
  exit failed
}
