#!/usr/bin/env bash
# cmake/build.sh <preset> [<target>...]: set up, configure, build. What tests/run.sh, examples/quickstart.sh and .ci/run share.
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
if [ "$memory_gb" -lt "$jobs" ]; then jobs=$((memory_gb > 0 ? memory_gb : 1)); fi
jobs=${CATENA_BUILD_JOBS:-$jobs}

cmake --preset "$preset"
if [ $# -gt 0 ]; then
  cmake --build "build/$preset" -j "$jobs" --target "$@"
else
  cmake --build "build/$preset" -j "$jobs"
fi
