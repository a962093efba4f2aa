#!/usr/bin/env bash
# bash benchmarks/compare.sh [--device cpu|cuda] [--case NAME] [--threads N] [--json FILE] [--plot FILE] [--record] ...
#
# Builds Catena's contender and measures it and its peers alternately; see benchmarks/README.md, and --help for all options.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
case " $* " in
  *" -h "* | *" --help "* | *" --worker"*) ;;
  *) bash "$root/cmake/build.sh" release benchmark_worker first_result >&2 ;;
esac
exec python3 "$root/benchmarks/compare/compare.py" "$@"
