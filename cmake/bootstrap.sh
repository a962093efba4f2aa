#!/usr/bin/env bash
# Installs the missing dependencies of the build. On Debian and Ubuntu through apt (with sudo when not root); elsewhere, or without
# the rights, it prints the list of missing packages and exits with status 2. When nothing is missing it calls dpkg once and returns
# in a few milliseconds.
set -euo pipefail

# Required packages.
required=(g++ cmake ninja-build zlib1g-dev libfmt-dev libboost-test-dev nlohmann-json3-dev)
# Optional packages: without them the build is slower, or a part is switched off; clang-format and codespell are for the tests.
optional=(ccache libdnnl-dev libopenblas-openmp-dev libcurl4-openssl-dev libhdf5-dev libopenmpi-dev openmpi-bin libpng-dev libjpeg-dev libbenchmark-dev python3-dev pybind11-dev clang-format-14 codespell)

# The compiler: in an older distribution the newest g++ may have its version in its name.
if command -v g++ >/dev/null && [ "$(g++ -dumpversion | cut -d. -f1)" -lt 12 ] && [ -z "${CXX:-}" ]; then
  required+=(g++-12)
fi

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  # Other systems: search for the tools and the headers directly.
  missing=()
  for tool in cmake c++; do
    command -v "$tool" >/dev/null || missing+=("$tool")
  done
  command -v ninja >/dev/null || command -v make >/dev/null || missing+=("ninja (or make)")
  if command -v c++ >/dev/null; then
    while read -r header name; do
      printf '#if !__has_include(<%s>)\n#error\n#endif\n' "$header" | c++ -std=c++20 -E -x c++ - >/dev/null 2>&1 || missing+=("$name")
    done <<'LIST'
zlib.h zlib
fmt/core.h fmt
boost/test/unit_test.hpp Boost.Test
nlohmann/json.hpp nlohmann-json
LIST
  fi
  if [ ${#missing[@]} -gt 0 ]; then
    echo "bootstrap: this is no Debian or Ubuntu, and these are missing; please install them:" >&2
    printf '  %s\n' "${missing[@]}" >&2
    echo "Useful beyond that: ccache, oneDNN, OpenBLAS (OpenMP build), libcurl, HDF5, libpng, libjpeg, Google Benchmark, clang-format 14, codespell." >&2
    exit 2
  fi
  exit 0
fi

installed=$(dpkg-query -W -f='${db:Status-Abbrev}${Package}\n' "${required[@]}" "${optional[@]}" 2>/dev/null | sed -n 's/^ii *//p' || true)
is_there() {
  case $'\n'"$installed"$'\n' in *$'\n'"$1"$'\n'*) return 0 ;; esac
  # A tool may be installed without its package.
  case "$1" in
    cmake | ccache | g++ | clang-format-14) command -v "$1" >/dev/null ;;
    ninja-build) command -v ninja >/dev/null ;;
    *) return 1 ;;
  esac
}
missing_required=()
missing_optional=()
for package in "${required[@]}"; do is_there "$package" || missing_required+=("$package"); done
for package in "${optional[@]}"; do is_there "$package" || missing_optional+=("$package"); done

# An optional package that could not be installed is not tried again in every run.
state="${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/catena/bootstrap-unavailable"
if [ ${#missing_optional[@]} -gt 0 ] && [ -f "$state" ]; then
  still=()
  for package in "${missing_optional[@]}"; do grep -qxF "$package" "$state" || still+=("$package"); done
  missing_optional=(${still[@]+"${still[@]}"})
fi
if [ ${#missing_required[@]} -eq 0 ] && [ ${#missing_optional[@]} -eq 0 ]; then
  exit 0
fi

echo "bootstrap: missing: ${missing_required[*]-} ${missing_optional[*]-}"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    if [ ${#missing_required[@]} -eq 0 ]; then
      echo "bootstrap: no sudo here; going on without the optional ones." >&2
      exit 0
    fi
    echo "bootstrap: neither root nor sudo. Please have these installed: apt-get install ${missing_required[*]} ${missing_optional[*]-}" >&2
    exit 2
  fi
  as_root=(sudo)
fi
apt() { ${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Acquire::Retries=3 "$@"; }

lists_are_new=true
if ! apt update; then
  lists_are_new=false
  echo "bootstrap: apt-get update failed; trying with the lists as they are." >&2
fi
if [ ${#missing_required[@]} -gt 0 ] && ! apt install --no-install-recommends "${missing_required[@]}"; then
  echo "bootstrap: could not install what is required. Please install: ${missing_required[*]}" >&2
  exit 2
fi
for package in ${missing_optional[@]+"${missing_optional[@]}"}; do
  if ! apt install --no-install-recommends "$package"; then
    echo "bootstrap: $package is not to be had here; the build goes on without it." >&2
    if $lists_are_new; then mkdir -p "$(dirname "$state")" && echo "$package" >>"$state"; fi
  fi
done
