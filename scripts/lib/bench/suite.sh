# shellcheck shell=bash
# The suite as scripts/run starts it, with people who can pay each other, and a second ledger for pgbench. Needs
# console.sh and lib/suite.sh, $root, $run and $binaries.
# shellcheck disable=SC2154

acceptance=$root/scripts/lib/bench/acceptance
# pgbench's copy of the transaction service's database: what it accepts must not keep the services busy.
reference_database=transfa_reference

build_services() {
    swift build -c release --package-path "$root"
}

build_load() {
    local flags=(-O2 -Wall -Wextra -Werror -D_GNU_SOURCE)
    mkdir -p "$run/bin"
    gcc "${flags[@]}" -o "$run/bin/keys" "$acceptance/keys.c" -lcrypto
    gcc "${flags[@]}" -o "$run/bin/load" "$acceptance/load.c" "$acceptance/payments.c" -lcrypto -lm
}

# database_url <MIGRATION_DATABASE_URL|DATABASE_URL|WORKER_DATABASE_URL>: of the transaction service.
database_url() {
    sed -n "s/^$1='\(.*\)'$/\1/p" "$run/databases/transaction.env"
}

# Needs the sandbox, and that nothing is connected to the transaction service's database: it is copied.
make_people() {
    local people=$1
    mkdir -p "$run/people"
    "$run/bin/keys" "$people" >"$run/people/keys"
    SANDBOX_URL=http://127.0.0.1:$(<"$run/ports/sandbox") ANCHOR_API_KEY=$(<"$run/secrets/anchor-api-key") \
        "$acceptance/people.py" "$run/people/keys" "$run/people"
    psql "$(database_url MIGRATION_DATABASE_URL)" -Xq -v handler=transaction_handler -f "$acceptance/people.sql" \
        <"$run/people/people.csv"
    psql "${TRANSFA_TEST_POSTGRES_URL/\/postgres\?/\/transfa_transaction?}" -Xq -c ANALYZE
    copy_ledger
}

copy_ledger() {
    psql "$TRANSFA_TEST_POSTGRES_URL" -Xq -v ON_ERROR_STOP=1 \
        -c "CREATE DATABASE $reference_database OWNER transaction_owner TEMPLATE transfa_transaction" \
        -c "GRANT CONNECT ON DATABASE $reference_database TO transaction_handler, transaction_worker"
}

# Prints what does not hold; 1 when there is something.
check_ledgers() {
    local database url found broken=0
    for database in transfa_transaction "$reference_database"; do
        # Loaded within minutes: without statistics the check would read whole tables for each row.
        psql "${TRANSFA_TEST_POSTGRES_URL/\/postgres\?/\/$database?}" -Xq -c ANALYZE
        url=$(database_url WORKER_DATABASE_URL)
        found=$(psql "${url/transfa_transaction/$database}" -XAtq -c 'SELECT name, detail FROM check_invariants()')
        if [[ -n $found ]]; then
            say "$database: $(wc -l <<<"$found") breaches of the ledger's invariants, such as"
            head -n 20 <<<"$found"
            broken=1
        else
            say "$database: every invariant of the ledger holds for $(psql "${url/transfa_transaction/$database}" \
                -XAtq -c 'SELECT count(*) FROM transfers') transactions"
        fi
    done
    return "$broken"
}
