#!/usr/bin/env bash
# resolve <list>: prints a Package.resolved with the packages of the list, each a line of identity, version and
# location. The revision of a version is asked of its location. The package manager then takes these and no others.
set -euo pipefail

list=$1

revision_of() {
    local version=$1 location=$2
    # The last line is the commit, also where the tag has an author and a text of its own.
    git ls-remote "$location" "refs/tags/$version" "refs/tags/$version^{}" | tail -n 1 | cut -f 1
}

# All at once: each waits for an answer from far away.
answers=$(mktemp -d)
trap 'rm -rf "$answers"' EXIT
entries=()
while read -r identity version location; do
    [[ -n $identity && $identity != \#* ]] || continue
    entries+=("$identity $version $location")
    revision_of "$version" "$location" >"$answers/$identity" &
done <"$list"
wait

pins=()
for entry in "${entries[@]}"; do
    read -r identity version location <<<"$entry"
    revision=$(<"$answers/$identity")
    [[ -n $revision ]] || {
        printf 'resolve: %s has no version %s\n' "$location" "$version" >&2
        exit 1
    }
    pins+=("$(printf '{"identity": "%s", "kind": "remoteSourceControl", "location": "%s", "state": {"revision": "%s", "version": "%s"}}' \
        "$identity" "$location" "$revision" "$version")")
done
printf '{\n  "pins": [\n'
printf '    %s\n' "${pins[@]}" | sed '$!s/$/,/'
printf '  ],\n  "version": 2\n}\n'
