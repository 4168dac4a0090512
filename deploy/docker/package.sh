#!/usr/bin/env bash
# package <folder of built products> <target>: makes <target>/<name>/ for each executable, as it is copied into an
# image: the stripped executable, the files that it finds beside itself, and what it was built from. <target>/runtime/
# has the libraries of the Swift toolchain that executables look for, unless they are linked into them.
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

# The libraries outside of Debian's folders, under their names.
runtime() {
    local library
    ldd "$1" | awk '$3 ~ /^\// && $3 !~ /^\/(usr\/)?lib\// { print $3 }' | while read -r library; do
        mkdir -p "$target/runtime$(dirname "$library")"
        cp --update --dereference "$library" "$target/runtime$library"
    done
}

# What is started: the executable, or one that measures its coverage without a place to write it to.
entry() {
    local app=$1 name=$2
    if grep -q -a __llvm_profile_runtime "$binaries/$name"; then
        printf '#!/usr/bin/bash\nexport LLVM_PROFILE_FILE=/dev/null\nexec /app/%s "$@"\n' "$name" >"$app/run"
        chmod 755 "$app/run"
    else
        ln -s "$name" "$app/run"
    fi
}

mkdir -p "$target/runtime"
for name in "${names[@]}"; do
    runtime "$binaries/$name"
    app=$target/$name/app
    mkdir -p "$app"
    strip --strip-all -o "$app/$name" "$binaries/$name"
    chmod 755 "$app/$name"
    entry "$app" "$name"
    [[ $name == sandbox ]] || bundles "$name" | xargs -I{} cp -r {} "$app/"
    cp Package.resolved "$app/"
done
du -sh "$target"/*/app
