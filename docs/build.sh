#!/usr/bin/env bash
# bash docs/build.sh [--serve | --tools]: builds the site of the documents into build/site and checks its links; --serve shows it on http://127.0.0.1:8000 and follows
# changes; --tools only installs what the other two need.
# A virtual environment with the tools of docs/requirements.txt is made in build/site-tools (CATENA_SITE_TOOLS names another folder).
set -euo pipefail
cd "$(dirname "$0")/.."

tools=${CATENA_SITE_TOOLS:-$PWD/build/site-tools}
wanted=$(cksum < docs/requirements.txt)
if [ "$(cat "$tools/installed" 2>/dev/null)" != "$wanted" ]; then
  python3 -m venv "$tools"
  "$tools/bin/python3" -m pip install --quiet --disable-pip-version-check -r docs/requirements.txt
  echo "$wanted" > "$tools/installed"
fi

export NO_MKDOCS_2_WARNING=1  # about a version that is not used
case "${1:-}" in
  "")
    "$tools/bin/mkdocs" build --clean --strict
    "$tools/bin/python3" docs/site/check_links.py build/site
    ;;
  --serve) "$tools/bin/mkdocs" serve ;;
  --tools) ;;
  *) sed -n '2,4s/^# //p' docs/build.sh >&2; exit 2 ;;
esac
