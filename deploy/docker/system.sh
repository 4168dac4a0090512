#!/usr/bin/env bash
# make-system <folder>: copies into an empty folder what a service needs of this Debian: the shared libraries that its
# own libraries ask for, bash for the health check, certificates, fonts, and a user. Nothing can be installed or removed
# in the result. The packages that files were taken from are named in var/lib/dpkg/status.d, for who looks for
# vulnerabilities.
set -euo pipefail

root=$1
# What executables are linked with; what these need is found.
libraries=(
    libpq.so.5 librabbitmq.so.4 libhiredis.so.0.14 libhpdf-2.3.0.so libqrencode.so.4 libssl.so.3 libcrypto.so.3
    libcurl.so.4 libstdc++.so.6 libgcc_s.so.1 libm.so.6 libz.so.1 libpthread.so.0 libdl.so.2 librt.so.1 libutil.so.1 libresolv.so.2
    libnss_files.so.2 libnss_dns.so.2
)
files=(
    /usr/bin/bash /etc/debian_version /usr/lib/os-release /etc/os-release /etc/ssl/openssl.cnf
    /etc/ssl/certs/ca-certificates.crt
    /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf /usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf
)

place_of() {
    local place
    place=$(ldconfig -p | awk -v name="$1" '$1 == name && /x86-64|AArch64/ { print $NF; exit }')
    [[ -n $place ]] || {
        printf 'make-system: there is no %s\n' "$1" >&2
        return 1
    }
    printf '%s\n' "$place"
}

# A file under its name, and the file that this leads to.
put() {
    local file=$1 real
    real=$(realpath "$file")
    mkdir -p "$root$(dirname "$(realpath -s "$file")")" "$root$(dirname "$real")"
    [[ -e $root$real ]] || cp -p "$real" "$root$real"
    [[ -e $root$file ]] || ln -s "$real" "$root$file"
    printf '%s\n' "$file" "$real" >>"$taken"
}

skeleton() {
    local folder
    for folder in bin sbin lib lib64; do
        mkdir -p "$root/usr/$folder"
        ln -s "usr/$folder" "$root/$folder"
    done
    mkdir -p "$root"/{proc,sys,dev,run/secrets,etc,usr/local/bin,var/lib/dpkg/status.d}
    install -d -m 1777 "$root/tmp"
    printf '%s\n' root:x:0:0:root:/:/usr/sbin/nologin transfa:x:10001:10001:transfa:/:/usr/sbin/nologin \
        >"$root/etc/passwd"
    printf 'root:x:0:\ntransfa:x:10001:\n' >"$root/etc/group"
    printf 'passwd: files\ngroup: files\nhosts: files dns\n' >"$root/etc/nsswitch.conf"
    # Where pictures and the sandbox's state are, when a volume is mounted there.
    install -d -o 10001 -g 10001 "$root/var/lib/transfa/images" "$root/var/lib/sandbox"
}

# Who owns what was taken, as dpkg knows it, and under which licence.
describe_packages() {
    local package
    { sort -u "$taken" | xargs dpkg-query --search 2>/dev/null || true; } | cut -d : -f 1 | tr ',' '\n' \
        | tr -d ' ' | sort -u | while read -r package; do
            dpkg-query --status "$package" >"$root/var/lib/dpkg/status.d/$package"
            if [[ -e /usr/share/doc/$package/copyright ]]; then
                install -D -m 644 "/usr/share/doc/$package/copyright" "$root/usr/share/doc/$package/copyright"
            fi
        done
}

taken=$(mktemp)
skeleton
places=()
for library in "${libraries[@]}"; do places+=("$(place_of "$library")"); done
{
    printf '%s\n' "${places[@]}" "${files[@]}"
    ldd "${places[@]}" /usr/bin/bash | awk '$2 == "=>" && $3 ~ /^\// { print $3 } $1 ~ /^\/.*ld-/ { print $1 }'
} | sort -u | while read -r file; do put "$file"; done
# dpkg knows files of a merged /usr by their old names.
sed -n 's,^/usr\(/s\?bin\|/lib\|/lib64\),\1,p' "$taken" >"$taken.old"
cat "$taken.old" >>"$taken"
describe_packages
chroot "$root" /usr/bin/bash -c 'true'
du -sh "$root"
