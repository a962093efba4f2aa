#!/usr/bin/env bash
# update_manifest.sh <build folder> [<ctest argument>...]: runs the suites on the software CUDA device and adds to manifest.txt, which
# stands beside this script, the kernels that they needed and the build had not compiled. Those that convert operands on the way stay
# out: there are thousands, and the device compiles one in 0.1 s. The tests' own results do not matter here.
set -euo pipefail
if [ $# -lt 1 ] || [ ! -d "$1" ]; then
  echo "usage: update_manifest.sh <build folder> [<ctest argument>...]" >&2
  exit 2
fi
build=$1
shift
manifest=$(dirname "$(readlink -f "$0")")/manifest.txt
missing=$(mktemp)
trap 'rm -f "$missing" "$missing.merged"' EXIT

CATENA_SOFTWARE_CUDA_MISSING=$missing ctest --test-dir "$build" -L software_cuda "$@" || true
before=$(wc -l < "$manifest")
awk '{ loop = $2; gsub(/[^A-Za-z?]/, "", loop); if ($2 == "-" || $6 == "dtypes=" loop) print }' "$missing" |
  LC_ALL=C sort -u "$manifest" - > "$missing.merged"
cp "$missing.merged" "$manifest"
echo "$((($(wc -l < "$manifest")) - before)) kernels added, $(wc -l < "$manifest") in all"
