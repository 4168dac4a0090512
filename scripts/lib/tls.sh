# shellcheck shell=bash
# A certificate authority and one server certificate for the name "localhost" alone. A client that checks host names
# accepts localhost and refuses 127.0.0.1: both sides of that check can be tested on one server.

prepare_tls() {
    local tls=$1/tls
    [[ -s $tls/server.pem ]] && return
    command -v openssl >/dev/null || fail "openssl is not installed: run scripts/bootstrap as root"
    mkdir -p "$tls"
    (
        umask 077
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -subj "/CN=Transfa test CA" \
            -keyout "$tls/ca.key" -out "$tls/ca.pem" 2>/dev/null
        openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=localhost" \
            -keyout "$tls/server.key" -out "$tls/server.csr" 2>/dev/null
        printf 'subjectAltName=DNS:localhost\nextendedKeyUsage=serverAuth\n' >"$tls/server.ext"
        openssl x509 -req -in "$tls/server.csr" -CA "$tls/ca.pem" -CAkey "$tls/ca.key" -CAcreateserial -days 30 \
            -extfile "$tls/server.ext" -out "$tls/server.pem" 2>/dev/null
    ) || fail "openssl could not make the test certificates in $tls"
    chmod 644 "$tls/ca.pem"
}
