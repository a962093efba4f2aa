#!/usr/bin/env bash
# bash tests/ptx_counts.sh <folder> [<title>]
#
# What the tests with the label ptx executed, by area: a table of the files that they wrote to the folder, named <area>.<entry>. A kernel that
# several entries run is counted once. Prints nothing if there is no file.
set -euo pipefail
folder=${1:?usage: ptx_counts.sh <folder> [<title>]}
cd "$folder" 2>/dev/null || exit 0
files=(*)
[ -e "${files[0]}" ] || exit 0
echo "Executed from PTX${2:+ of $2}:"
for file in "${files[@]}"; do
  awk -v area="${file%%.*}" '{ print area, FILENAME, $1, $2 }' "$file"
done | awk '
  function add(area) {
    if (!((area, $2) in entry)) { entry[area, $2] = 1; ++entries[area] }
    if ($3 == "kernel" && !((area, $4) in kernel)) { kernel[area, $4] = 1; ++kernels[area] }
    if ($3 == "launches") launches[area] += $4
    if ($3 == "loops") loops[area] += $4
  }
  { areas[$1] = 1; add($1); add("all") }
  function line(area) {
    printf "  %-10s %9d %9d %10d %17d\n", area, entries[area], kernels[area], launches[area], loops[area]
  }
  END {
    printf "  %-10s %9s %9s %10s %17s\n", "area", "programs", "kernels", "launches", "registered loops"
    count = split("ndarray autograd nn training cuda", order, " ")
    for (k = 1; k <= count; ++k) if (order[k] in areas) { line(order[k]); delete areas[order[k]] }
    for (area in areas) line(area)
    line("all")
  }'
