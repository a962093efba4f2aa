#!/usr/bin/env bash
# bash cmake/abi.sh <old> <new>: what changed in the binary interfaces of the shared libraries, by abidiff (Debian: abigail-tools).
# <old> and <new> are installation prefixes or build folders, or archives that this script has recorded.
# bash cmake/abi.sh --record <prefix> <archive.tar.xz>: records the interfaces for a later comparison.
#
# Libraries with debug information (CMAKE_BUILD_TYPE=RelWithDebInfo) are compared by functions, types and layouts, others by the names of their
# symbols, which contain the types of all parameters. Ends with status 1 if programs must be compiled again: a function or a type was removed
# or changed, or a library has another soname.
set -euo pipefail

usage() { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
components=(kernels ndarray autograd autograd_ndarray nn training)

# interfaces <prefix, build folder or archive> <folder>: writes <folder>/<component>.xml.
interfaces() {
  mkdir -p "$2"
  if [ -f "$1" ]; then
    tar -xJf "$1" -C "$2"
    return
  fi
  for component in "${components[@]}"; do
    # The tests of a build folder have installations of their own.
    library=$(find "$1" -path '*/tests/*' -prune -o -name "libcatena_$component.so.*.*.*" -type f -print | sort | tail -1)
    if [ -n "$library" ]; then abidw --no-corpus-path --no-comp-dir-path --out-file "$2/$component.xml" "$library"; fi
  done
  if [ -z "$(ls "$2")" ]; then
    echo "abi: $1 has no shared library of Catena" >&2
    exit 2
  fi
}

[ $# -ge 2 ] || usage
if [ "$1" = --record ]; then
  [ $# -eq 3 ] || usage
  interfaces "$2" "$scratch/recorded"
  mkdir -p "$(dirname "$3")"
  tar -cJf "$3" --sort=name --owner=0 --group=0 --mtime=@0 -C "$scratch/recorded" .
  exit 0
fi
[ $# -eq 2 ] || usage

interfaces "$1" "$scratch/old"
interfaces "$2" "$scratch/new"
status=0
for old in "$scratch"/old/*.xml; do
  name=$(basename "$old" .xml)
  if [ ! -f "$scratch/new/$name.xml" ]; then
    echo "== libcatena_$name: removed"
    status=1
    continue
  fi
  echo "== libcatena_$name"
  result=0
  abidiff "$old" "$scratch/new/$name.xml" >"$scratch/report" || result=$?
  if [ $((result & 3)) -ne 0 ]; then  # an error of abidiff or of its call; its other bits are differences
    cat "$scratch/report" >&2
    exit 2
  fi
  if command -v c++filt >/dev/null; then c++filt <"$scratch/report"; else cat "$scratch/report"; fi
  if grep -qE '[1-9][0-9]* (Removed|Changed)|^SONAME changed' "$scratch/report"; then status=1; fi
done
exit "$status"
