#!/usr/bin/env bash
# reference <list> <folder>: makes a folder of what shows the description of the API at /docs, Swagger UI, as the package
# of the list has it, unless it is there already.
set -euo pipefail

list=$1
folder=$2

! cmp -s "$list" "$folder.list" || exit 0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/python"
# The files alone: no code of the package runs, and nothing that it needs is there.
"$work/python/bin/pip" install --quiet --disable-pip-version-check --retries "${REFERENCE_RETRIES:-1}" --timeout 10 \
    --no-deps --no-compile --only-binary :all: --require-hashes --target "$work/package" --requirement "$list"
files=$work/package/drf_spectacular_sidecar/static/drf_spectacular_sidecar/swagger-ui-dist
rm -rf "$folder" "$folder.list"
mkdir -p "$folder"
cp "$files/swagger-ui-bundle.js" "$files/swagger-ui.css" "$folder/"
cp "$files/LICENSE" "$folder/license.txt"
# Last: a run that was cut short begins again.
cp "$list" "$folder.list"
