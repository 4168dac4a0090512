#!/usr/bin/env bash
# package <folder of built products> <target>: makes <target>/<name>/ for each executable, as it is copied into an
# image: the stripped executable, the files that it finds beside itself, and what it was built from.
set -euo pipefail

binaries=$1
target=$2
names=(auth customer account transaction subscription notification analytics console sandbox transfactl)

# The bundle <package>_<Module>.resources of the executable's own module, and that of Messaging, which all share.
bundles() {
    local name=$1 bundle module
    for bundle in "$binaries"/*.resources; do
        module=${bundle##*/transfa_}
        module=${module%.resources}
        [[ $module != Messaging && ${module,,} != "${name}service" ]] || printf '%s\n' "$bundle"
    done
}

for name in "${names[@]}"; do
    app=$target/$name/app
    mkdir -p "$app"
    strip --strip-all -o "$app/$name" "$binaries/$name"
    chmod 755 "$app/$name"
    ln -s "$name" "$app/run"
    [[ $name == sandbox ]] || bundles "$name" | xargs -I{} cp -r {} "$app/"
    cp Package.resolved "$app/"
done
du -sh "$target"/*/app
