# shellcheck shell=bash
# Two Postgres servers on loopback: a primary whose commits wait for the other one, the standby, to have them on disk.
# Needs processes.sh, console.sh, tls.sh and postgres.sh.
#
# <dir>/one and <dir>/two are the servers' folders, each with the layout of a single server (postgres.sh). <dir>/primary
# holds the name of the one that takes writes. What only replication needs stands in postgresql.auto.conf.

# shellcheck disable=SC2034
pair_servers=(one two)
# The standby's name and its slot, whichever server it is.
standby_name=transfa_standby

pair_primary() {
    cat "$1/primary"
}

pair_standby() {
    if [[ $(pair_primary "$1") == one ]]; then printf two; else printf one; fi
}

pair_url() {
    printf 'postgres://postgres:%s@127.0.0.1:%s/postgres?sslmode=disable' \
        "$(<"$1/secrets/postgres")" "$(<"$1/$2/ports/postgres")"
}

# pair_psql <dir> <one|two> <statement>
pair_psql() {
    PGCONNECT_TIMEOUT=10 psql "$(pair_url "$1" "$2")" -XAtq -v ON_ERROR_STOP=1 -c "$3"
}

prepare_pair() {
    local dir=$1 server
    mkdir -p "$dir"/{logs,pids,ports,secrets}
    chmod 700 "$dir/secrets"
    prepare_tls "$dir"
    secret_in "$dir/secrets/postgres" >/dev/null
    for server in "${pair_servers[@]}"; do
        mkdir -p "$dir/$server"/{logs,pids,ports,secrets}
        chmod 700 "$dir/$server/secrets"
        ln -sfn "$dir/tls" "$dir/$server/tls"
        cp "$dir/secrets/postgres" "$dir/$server/secrets/postgres"
        # Both stand in one folder as well, so that neither is given the other's port.
        free_port "$dir/ports/postgres-$server" >"$dir/$server/ports/postgres"
    done
}

start_pair_server() {
    local dir=$1 server=$2
    start_postgres "$dir/$server"
    wait_until 60 postgres_ready "$dir/$server" \
        || fail "Postgres $server did not get ready, see $dir/$server/logs/postgres.log"
}

# copy_from_primary <dir> <server>: makes this server's data anew, as a standby.
copy_from_primary() {
    local dir=$1 server=$2 home=$1/$2/postgres primary user bin
    primary=$(pair_primary "$dir")
    bin=$(postgres_binaries)
    mkdir -p "$home/socket"
    cp "$dir/tls/server.pem" "$dir/tls/server.key" "$home/"
    chmod 700 "$home" "$home/socket"
    chmod 600 "$home/server.key"
    if ((EUID == 0)); then
        chown -R postgres:postgres "$home"
    fi
    rm -rf "$home/data" "$home/data.new"
    pair_psql "$dir" "$primary" "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots
        WHERE slot_name = '$standby_name'" >/dev/null
    mapfile -t user < <(postgres_user "$home")
    "${user[@]}" "$bin/pg_basebackup" --pgdata="$home/data.new" --wal-method=stream --checkpoint=fast --no-sync \
        --create-slot --slot="$standby_name" --write-recovery-conf \
        --dbname="$(pair_url "$dir" "$primary")&application_name=$standby_name" >"$dir/logs/basebackup.log" 2>&1 \
        || fail "the base backup failed, see $dir/logs/basebackup.log"
    mv "$home/data.new" "$home/data"
}

# From now on a commit is answered when the standby has it on disk.
make_synchronous() {
    local dir=$1 primary
    primary=$(pair_primary "$dir")
    pair_psql "$dir" "$primary" "ALTER SYSTEM SET synchronous_standby_names = '$standby_name'"
    pair_psql "$dir" "$primary" "SELECT pg_reload_conf()" >/dev/null
    wait_until 60 is_synchronous "$dir" || fail "the standby did not become synchronous"
}

is_synchronous() {
    [[ $(pair_psql "$1" "$(pair_primary "$1")" "SELECT count(*) FROM pg_stat_replication
        WHERE sync_state = 'sync' AND state = 'streaming'") == 1 ]]
}

is_primary() {
    [[ $(pair_psql "$1" "$2" "SELECT NOT pg_is_in_recovery()" 2>/dev/null) == t ]]
}

# Both hosts in every URL: whoever connects finds the one that takes writes. Not read-write, which would also want
# default_transaction_read_only to be off: the connections that the services only read with have it on.
pair_environment() {
    local dir=$1
    printf "TRANSFA_TEST_POSTGRES_URL='postgres://postgres:%s@127.0.0.1:%s,127.0.0.1:%s/postgres?%s'\n" \
        "$(<"$dir/secrets/postgres")" "$(<"$dir/one/ports/postgres")" "$(<"$dir/two/ports/postgres")" \
        "sslmode=disable&target_session_attrs=primary"
}
