#!/usr/bin/env bash
# Makes the cluster in PGDATA on the first start, with what /docker-entrypoint-initdb.d holds, then becomes the server.
# POSTGRES_PASSWORD, or a file that POSTGRES_PASSWORD_FILE names; POSTGRES_USER and POSTGRES_DB, if not postgres.
set -euo pipefail

password() {
    if [[ -n ${POSTGRES_PASSWORD_FILE:-} ]]; then
        cat "$POSTGRES_PASSWORD_FILE"
    else
        printf '%s' "${POSTGRES_PASSWORD:?must be set before the first start}"
    fi
}

# psql for the scripts: the server of the first start listens on its socket alone.
process() {
    PGHOST=/var/run/postgresql PGUSER=$user PGDATABASE=$database PGPASSWORD=$secret \
        psql -X --no-password --set ON_ERROR_STOP=1 "$@"
}

run_scripts() {
    local file
    for file in /docker-entrypoint-initdb.d/*; do
        case $file in
            *.sh)
                if [[ -x $file ]]; then "$file"; else
                    # shellcheck source=/dev/null
                    source "$file"
                fi
                ;;
            *.sql) process --file "$file" ;;
        esac
    done
}

make_cluster() {
    secret=$(password)
    initdb --username="$user" --encoding=UTF8 --locale=C.UTF-8 --auth-local=scram-sha-256 --auth-host=scram-sha-256 \
        --pwfile=<(printf '%s\n' "$secret") --pgdata="$PGDATA"
    printf 'host all all all scram-sha-256\n' >>"$PGDATA/pg_hba.conf"
    PGPASSWORD=$secret pg_ctl --pgdata="$PGDATA" --wait --options="-c listen_addresses=''" start
    [[ $database == postgres ]] || PGDATABASE=postgres process --command "CREATE DATABASE \"$database\""
    export PGPASSWORD=$secret
    run_scripts
    pg_ctl --pgdata="$PGDATA" --wait --mode=fast stop
    unset PGPASSWORD
}

[[ ${1:-} != -* ]] || set -- postgres "$@"
if [[ ${1:-} == postgres ]]; then
    if ((EUID == 0)); then
        install -d -o postgres -g postgres -m 700 "$PGDATA"
        exec setpriv --reuid=postgres --regid=postgres --init-groups "$0" "$@"
    fi
    user=${POSTGRES_USER:-postgres}
    database=${POSTGRES_DB:-$user}
    [[ -s $PGDATA/PG_VERSION ]] || make_cluster
    # Debian's default is its own machine.
    set -- "$@" -c listen_addresses='*'
fi
exec "$@"
