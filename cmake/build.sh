#!/usr/bin/env bash
# cmake/build.sh <preset> [<target>...]: set up, configure, build. What tests/run.sh, examples/quickstart.sh and .ci/run share.
# CATENA_VERBOSE=1 prints what is searched for and where it is found, and every command of the compiler; CATENA_BUILD_JOBS is the number of
# compilers at a time.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:?usage: cmake/build.sh <preset> [<target>...]}
shift

bash cmake/bootstrap.sh

if [ ! -f "build/$preset/CMakeCache.txt" ]; then
  # These choices depend on the machine, so they are not in the presets.
  if command -v ninja >/dev/null; then export CMAKE_GENERATOR=${CMAKE_GENERATOR:-Ninja}; fi
  if [ -z "${CXX:-}" ] && command -v g++-12 >/dev/null && [ "$(g++ -dumpversion 2>/dev/null | cut -d. -f1)" -lt 12 ]; then export CXX=g++-12; fi
fi

# A compiler process takes up to 1 GB: fewer jobs than cores if memory is limited.
jobs=$(nproc 2>/dev/null || echo 2)
memory_gb=$(awk '/^MemAvailable:/ { print int($2 / 1000000) }' /proc/meminfo 2>/dev/null || echo 4)
if [ "$memory_gb" -lt "$jobs" ]; then
  jobs=$((memory_gb > 0 ? memory_gb : 1))
  if [ -z "${CATENA_BUILD_JOBS:-}" ]; then echo "build: $memory_gb GB of memory are free, so $jobs compiler(s) at a time (CATENA_BUILD_JOBS sets another number)"; fi
fi
jobs=${CATENA_BUILD_JOBS:-$jobs}

loud_configure=()
loud_build=()
if [ -n "${CATENA_VERBOSE:-}" ]; then
  loud_configure=(--log-level=VERBOSE)
  loud_build=(--verbose)
fi
targets=()
if [ $# -gt 0 ]; then targets=(--target "$@"); fi

cmake --preset "$preset" ${loud_configure[@]+"${loud_configure[@]}"}
status=0
cmake --build "build/$preset" -j "$jobs" ${loud_build[@]+"${loud_build[@]}"} ${targets[@]+"${targets[@]}"} || status=$?
if [ "$status" -ne 0 ]; then
  echo "build: failed. Where a compiler was killed (\"Killed\", signal 9), memory was short: CATENA_BUILD_JOBS=1 runs one at a time." >&2
  exit "$status"
fi
