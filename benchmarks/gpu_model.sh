#!/usr/bin/env bash
# bash benchmarks/gpu_model.sh [--case GLOB] [--device h100|h200] [--set NAME=N] [--kernels] [--calibrate] ...
#
# Profiles cases on a machine without a GPU and predicts their times: the software device executes the PTX of the kernels and counts what they
# do. See "A model of the GPU" in benchmarks/README.md, and --help for all options. Needs the CUDA toolkit's NVRTC.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
case " $* " in
  *" -h "* | *" --help "* | *" --build "*) ;;
  *) bash "$root/cmake/build.sh" release software_cudnn gpu_model_worker >&2 ;;
esac
exec python3 -B "$root/benchmarks/model/gpu_model.py" "$@"
