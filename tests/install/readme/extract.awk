# The C++ snippets of documents as parts of programs: awk -v out=<folder> -f extract.awk README.md docs/*.md
# A line <!-- program: name --> stands before each; snippets of one name are one program. Of a snippet, #include lines go to
# <name>.includes, classes to <name>.types, and the rest to <name>.body. The CMake lines go to snippet.cmake.
/^<!-- program: [a-z_]+ -->$/ { name = $3; next }
/^```cpp$/ {
  if (name == "") { print FILENAME ":" FNR ": a snippet without a line <!-- program: name --> before it"; failed = 1 }
  inside = name != ""
  next
}
/^```cmake$/ { in_cmake = 1; next }
in_cmake && /^```$/ { in_cmake = 0; next }
in_cmake { print > (out "/snippet.cmake"); next }
/^```$/ { inside = 0; name = ""; next }
!inside { next }
/^#include/ { print > (out "/" name ".includes"); next }
/^(struct|class) / { in_struct = 1 }
in_struct { print > (out "/" name ".types"); if (/^};/) in_struct = 0; next }
{ print > (out "/" name ".body") }
END { exit failed }
