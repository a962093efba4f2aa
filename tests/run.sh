#!/usr/bin/env bash
# bash tests/run.sh [--device cpu|cuda] [--preset <name>] [--arch <numbers>] [--perturb] [--quick | --sample] [<ctest arguments>...]
#
# Sets up, builds and runs every test; the output ends with ctest's summary. For example:
#   bash tests/run.sh                            all tests that need no GPU
#   bash tests/run.sh --quick                    all but <entry>.cuda, kernels compiled as C++, where <entry>.ptx has the same cases
#   bash tests/run.sh --sample                   all, but only a part of the tests that repeat others, another part every day
#   bash tests/run.sh --device cuda              all tests, on cuda:0 where a test can choose
#   bash tests/run.sh --preset asan-ubsan        the same under the sanitizers
#   bash tests/run.sh -R ndarray/ -V             those whose name matches, with their output
#   bash tests/run.sh -L ptx --arch 75,121       what runs PTX, on that of these architectures (default: 90)
#   bash tests/run.sh -L ptx --perturb           the same with approximate instructions 2 ulp off and blocks in descending order
set -euo pipefail
cd "$(dirname "$0")/.."

device=cpu
preset=release
quick=no
arguments=()
archs=${CATENA_SOFTWARE_CUDA_PTX_ARCH:-90}
while [ $# -gt 0 ]; do
  case "$1" in
    --device) device=${2:?--device needs cpu or cuda}; shift 2 ;;
    --device=*) device=${1#*=}; shift ;;
    --preset) preset=${2:?--preset needs a name}; shift 2 ;;
    --preset=*) preset=${1#*=}; shift ;;
    --arch) archs=${2:?--arch needs numbers such as 75,121}; shift 2 ;;
    --arch=*) archs=${1#*=}; shift ;;
    --quick) quick=yes; shift ;;
    --sample) CATENA_TEST_SAMPLE=${CATENA_TEST_SAMPLE:-$(($(date +%s) / 86400))}; shift ;;
    --perturb) export CATENA_SOFTWARE_CUDA_PTX_PERTURB=1 CATENA_SOFTWARE_CUDA_ORDER=descending; shift ;;
    -h | --help) sed -n '2,13s/^# \{0,1\}//p' tests/run.sh; exit 0 ;;
    *) arguments+=("$1"); shift ;;
  esac
done
case "$device" in
  cpu) left_out=(gpu) ;;
  cuda) left_out=() ;;
  *) echo "tests/run.sh: --device $device: cpu or cuda" >&2; exit 2 ;;
esac
case "${CATENA_TEST_SAMPLE:-0}" in
  *[!0-9]*) echo "tests/run.sh: CATENA_TEST_SAMPLE=$CATENA_TEST_SAMPLE is not a number" >&2; exit 2 ;;
esac
if [ "$quick" = yes ]; then left_out+=(repeated); fi
# A value made for another machine halves the speed of matrix products.
unset OPENBLAS_CORETYPE

bash cmake/build.sh "$preset"

# A sample has the entries of one label repeated_<k>; tests read the number, too.
if [ -n "${CATENA_TEST_SAMPLE:-}" ]; then
  export CATENA_TEST_SAMPLE
  echo "tests/run.sh: sample $CATENA_TEST_SAMPLE (CATENA_TEST_SAMPLE=$CATENA_TEST_SAMPLE takes the same)"
  parts=$(ctest --test-dir "build/$preset" --print-labels | grep -c '^ *repeated_[0-9]' || true)
  for ((k = 0; k < parts; ++k)); do
    if [ "$k" -ne $((10#$CATENA_TEST_SAMPLE % parts)) ]; then left_out+=("repeated_$k"); fi
  done
  left_out+=(repeated_locale)
fi
labels=()
if [ ${#left_out[@]} -gt 0 ]; then labels=(-LE "^($(IFS='|'; echo "${left_out[*]}"))\$"); fi

# Thousands of small files are written and replaced: in memory, where 4 GB of it are free, because a disk makes each one wait.
if [ -z "${TMPDIR:-}" ] && [ "$(df -k --output=avail /dev/shm 2>/dev/null | tail -1 || echo 0)" -gt 4000000 ] &&
  [ "$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo 2>/dev/null || echo 0)" -gt 8000000 ]; then
  TMPDIR=$(mktemp -d /dev/shm/catena.XXXXXX)
  chmod 1777 "$TMPDIR"  # tests run parts as another user
  export TMPDIR
  trap 'rm -rf "$TMPDIR"' EXIT
fi

# One more than cores: some entries wait for limits of time and for other processes.
jobs=$(($(nproc 2>/dev/null || echo 2) + 1))
counts=build/$preset/tests/software_cuda_ptx/counts
status=0
for arch in ${archs//,/ }; do
  rm -f "$counts"/*
  CATENA_SOFTWARE_CUDA_PTX_ARCH=$arch ctest --test-dir "build/$preset" --output-on-failure --no-tests=error \
    -j "$jobs" ${labels[@]+"${labels[@]}"} ${arguments[@]+"${arguments[@]}"} || status=$?
  bash tests/ptx_counts.sh "$counts" "compute_$arch"
done
exit "$status"
