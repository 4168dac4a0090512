# shellcheck shell=bash
# The database and the three roles of each service. Needs processes.sh, console.sh and $scripts.
# shellcheck disable=SC2154

# create_database <superuser url> <dir> <service>: repeatable. Passwords are taken from the environment, such as
# AUTH_HANDLER_PASSWORD, or made and kept in <dir>/secrets. Writes <dir>/databases/<service>.env with the three URLs.
create_database() {
    local admin=$1 dir=$2 service=$3 role upper=${3^^}
    local -A password
    for role in owner handler worker; do
        local given="${upper}_${role^^}_PASSWORD"
        password[$role]=${!given:-$(secret_in "$dir/secrets/$service-$role")}
    done
    TRANSFA_OWNER_PASSWORD=${password[owner]} TRANSFA_HANDLER_PASSWORD=${password[handler]} \
        TRANSFA_WORKER_PASSWORD=${password[worker]} \
        psql "$admin" -Xq -v "database=transfa_$service" -v "owner=${service}_owner" -v "handler=${service}_handler" \
        -v "worker=${service}_worker" -f "$scripts/../deploy/postgres/roles.sql" \
        || fail "the database of $service could not be created"
    mkdir -p "$dir/databases"
    {
        printf "MIGRATION_DATABASE_URL='%s'\n" "$(role_url "$admin" "$service" owner "${password[owner]}")"
        printf "DATABASE_URL='%s'\n" "$(role_url "$admin" "$service" handler "${password[handler]}")"
        printf "WORKER_DATABASE_URL='%s'\n" "$(role_url "$admin" "$service" worker "${password[worker]}")"
    } >"$dir/databases/$service.env"
    chmod 600 "$dir/databases/$service.env"
}

# role_url <superuser url> <service> <role> <password>: the same server and options, another user and database.
role_url() {
    local rest=${1#*@} options=""
    [[ $1 == *\?* ]] && options="?${1#*\?}"
    printf 'postgres://%s_%s:%s@%s/transfa_%s%s' "$2" "$3" "$4" "${rest%%/*}" "$2" "$options"
}
