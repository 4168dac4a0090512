# shellcheck shell=bash
# Finds the programs that render manifests: Debian's kubectl, the oldest that must understand overlays, and another one
# that may be on the PATH.

# find_kubectls <folder>: a path in a line each, Debian's first. It is unpacked into the folder, unless it is installed:
# as a package it would be in the way of another kubectl.
find_kubectls() {
    local folder=$1 installed
    installed=$(command -v kubectl || true)
    if [[ -n $installed ]] && dpkg -S "$installed" 2>/dev/null | grep -q '^kubernetes-client:'; then
        printf '%s\n' "$installed"
        return
    fi
    unpack_kubectl "$folder" >&2 && printf '%s\n' "$folder/usr/bin/kubectl"
    [[ -z $installed ]] || printf '%s\n' "$installed"
}

unpack_kubectl() {
    local folder=$1 download
    [[ ! -x $folder/usr/bin/kubectl ]] || return 0
    command -v apt-get >/dev/null || return 1
    download=$(mktemp -d)
    # As root, apt-get downloads as a user of its own.
    chmod 755 "$download"
    if ! (cd "$download" && apt-get -qq download kubernetes-client) >"$download/log" 2>&1; then
        say "Debian's kubectl could not be downloaded: $(grep -m 1 '^E: ' "$download/log" || true)"
        rm -rf "$download"
        return 1
    fi
    # Whole or not at all: an unpacking that was cut short begins again.
    dpkg-deb -x "$download"/kubernetes-client_*.deb "$download/unpacked"
    mkdir -p "$(dirname "$folder")"
    rm -rf "$folder"
    mv "$download/unpacked" "$folder"
    rm -rf "$download"
}
