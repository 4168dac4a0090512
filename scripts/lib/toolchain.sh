# shellcheck shell=bash
# Finds the Swift toolchain and its tools. Needs console.sh.

find_toolchain() {
    command -v swift >/dev/null || PATH="$PATH:/opt/swift/usr/bin:/usr/local/swift/usr/bin"
    command -v swift >/dev/null \
        || fail "the Swift toolchain is missing: install Swift 6.3 from swift.org and put its usr/bin on the PATH"
}

use_toolchain() {
    local version
    find_toolchain
    version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9]*\.[0-9]*\).*/\1/p' | head -n 1)
    case $version in
        6.[3-9] | 6.[1-9][0-9] | [7-9].*) ;;
        *) fail "Swift 6.3 or newer is needed and the one on the PATH is ${version:-unknown}" ;;
    esac
    export PATH
}

# Before a build: the toolchain, and the packages in their versions.
prepare_build() {
    use_toolchain
    pin_packages
}

# Swift's packages in the versions of their list, unless they were resolved since it was written. Several builds may
# begin at once.
# shellcheck disable=SC2154
pin_packages() {
    local root=$scripts/.. list=deploy/docker/swift-versions.txt
    [[ ! $root/Package.resolved -nt $root/$list ]] || return 0
    "$root/deploy/docker/resolve.sh" "$root/$list" >"$root/Package.resolved.$$" \
        || { rm -f "$root/Package.resolved.$$" && fail "the packages of $list could not be had (offline?)"; }
    mv "$root/Package.resolved.$$" "$root/Package.resolved"
}

# provide_binaries: sets $binaries, the folder of TRANSFA_BINARIES or that of the build of scripts/test, which it makes.
# Nothing that they start writes its coverage unless the caller says where. Needs $root.
# shellcheck disable=SC2034,SC2154
provide_binaries() {
    binaries=${TRANSFA_BINARIES:-}
    if [[ -z $binaries ]]; then
        prepare_build
        swift build --enable-code-coverage --package-path "$root"
        binaries=$(swift build --package-path "$root" --show-bin-path)
    fi
    export LLVM_PROFILE_FILE=${LLVM_PROFILE_FILE:-/dev/null}
}
