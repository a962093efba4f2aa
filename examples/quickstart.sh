#!/usr/bin/env bash
# bash examples/quickstart.sh [<arguments of train_mnist>...]
#
# Installs the dependencies, builds the MNIST example, trains it and shows the result. The images come from
# $CATENA_DATASET_ROOT/mnist, the cache folder or a download; otherwise they are generated, and the program prints so. Fails when the
# test accuracy is below 0.95, or when CATENA_DATASET_ROOT is set and real images were not used.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
# A relative path refers to the caller's working folder.
if [ -n "${CATENA_DATASET_ROOT:-}" ]; then
  CATENA_DATASET_ROOT=$(cd "$CATENA_DATASET_ROOT" && pwd) || { echo "quickstart: CATENA_DATASET_ROOT is no folder" >&2; exit 1; }
  export CATENA_DATASET_ROOT
fi
cd "$root"
# A value for another machine can halve the speed of matrix products.
unset OPENBLAS_CORETYPE

preset=${CATENA_PRESET:-release}
bash cmake/build.sh "$preset" example_train_mnist

out=${CATENA_QUICKSTART_OUT:-result/quickstart}
mkdir -p "$out"
rm -f "$out/log"
started=$(date +%s)
"build/$preset/examples/mnist/train_mnist" --epoch "${CATENA_QUICKSTART_EPOCHS:-5}" --out "$out" "$@" | tee "$out/output.txt"
seconds=$(($(date +%s) - started))

dataset=$(sed -n 's/^dataset: *//p' "$out/output.txt" | head -n 1)
accuracy=$(grep -o '"validation/main/accuracy": *[0-9.eE+-]*' "$out/log" | tail -n 1 | sed 's/.*: *//')
echo
echo "quickstart: test accuracy ${accuracy:-unknown} on ${dataset:-unknown} images after $seconds s of training"
echo "quickstart: log: $out/log, snapshots: $out/"
case "${dataset:-unknown}" in
  real*) ;;
  *)
    if [ -n "${CATENA_DATASET_ROOT:-}" ]; then
      echo "quickstart: FAILED: the data set is '${dataset:-unknown}', although CATENA_DATASET_ROOT=$CATENA_DATASET_ROOT was given" >&2
      exit 1
    fi
    ;;
esac
if ! awk -v accuracy="${accuracy:-0}" 'BEGIN { exit !(accuracy >= 0.95) }'; then
  echo "quickstart: FAILED: the test accuracy ${accuracy:-unknown} is below 0.95" >&2
  exit 1
fi
