# shellcheck shell=bash
# The databases, settings, start and end of the services that scripts/run keeps up. Needs processes.sh, databases.sh and
# console.sh.
# $run is the folder of the run, $binaries the folder with the executables; the caller sets them.
# shellcheck disable=SC2154

# In the order in which they start.
services=(auth customer account transaction subscription notification analytics console)

# The addresses of the servers; those in elsewhere.env, where there is one, are not the private ones of the run.
server_addresses() {
    # shellcheck source=/dev/null
    source "$run/servers/servers.env"
    # shellcheck source=/dev/null
    [[ ! -s $run/elsewhere.env ]] || source "$run/elsewhere.env"
}

# The lines of .run/<service>.env.
service_environment() {
    local service=$1
    server_addresses
    setting HOST 127.0.0.1
    setting PORT "$(free_port "$run/ports/$service")"
    setting INTERNAL_PORT "$(free_port "$run/ports/$service-internal")"
    setting INTERNAL_HOST 127.0.0.1
    setting INTERNAL_TOKEN "$(secret_in "$run/secrets/internal-token")"
    setting TRANSFA_PROFILE sandbox
    setting LOG_LEVEL "${LOG_LEVEL:-info}"
    setting SHUTDOWN_GRACE_SECONDS 10
    rate_limits
    # What a build that measures its coverage writes goes there, and not into the folder that it was started from.
    [[ -z ${LLVM_PROFILE_FILE:-} ]] || setting LLVM_PROFILE_FILE "$LLVM_PROFILE_FILE"
    peer_urls
    if [[ $service == sandbox ]]; then
        sandbox_environment
    else
        # Migrations get theirs separately: a running service never has the owner's password.
        grep -v '^MIGRATION_DATABASE_URL=' "$run/databases/$service.env"
        setting RABBITMQ_URL "$TRANSFA_TEST_RABBITMQ_URL"
        setting RABBITMQ_MANAGEMENT_URL "$TRANSFA_TEST_RABBITMQ_MANAGEMENT_URL"
        setting REDIS_URL "$TRANSFA_TEST_REDIS_URL"
        provider_environment
        own_environment "$service"
    fi
}

# The load of scripts/bench is a few people at one address: it sets $rate_limit. Otherwise limits are as documented.
rate_limits() {
    local policy
    [[ -n ${rate_limit:-} ]] || return 0
    for policy in ADDRESS USER MONEY SECRETS LOOKUPS; do setting "RATE_LIMIT_$policy" "$rate_limit"; done
}

# What only one service knows.
own_environment() {
    case $1 in
        auth)
            setting MASTER_KEYS "run:$(key_in "$run/secrets/master-key")"
            setting APPROVAL_SIGNING_KEY "$(key_in "$run/secrets/approval-signing-key")"
            setting PIN_PEPPER "$(key_in "$run/secrets/pin-pepper")"
            setting CLERK_WEBHOOK_SECRET "whsec_$(key_in "$run/secrets/clerk-webhook-secret")"
            ;;
        transaction)
            setting ANCHOR_POOL_ACCOUNT_ID "$pool_account"
            setting IMAGE_STORE_URL "file://$run/images"
            ;;
        customer)
            setting BLIND_INDEX_KEY "$(key_in "$run/secrets/blind-index-key")"
            setting IMAGE_STORE_URL "file://$run/images"
            ;;
        notification)
            setting APNS_KEY "$(key_in "$run/secrets/apns-key")"
            setting APNS_KEY_ID SANDBOXKEY
            setting APNS_TEAM_ID SANDBOXTEAM
            setting APNS_TOPIC ng.transfa.app
            setting APNS_BASE_URL "https://localhost:$(free_port "$run/ports/apns")"
            setting APNS_CA_FILE "$(push_certificate)"
            ;;
        console) setting OPERATOR_TOKENS "$(operator_tokens)" ;;
    esac
}

# Who may sign in to the operators' page: two, for some decisions need a second person.
operators=(ada bola)

operator_tokens() {
    local name entries=()
    for name in "${operators[@]}"; do
        entries+=("$name:$(printf '%s' "$(secret_in "$run/secrets/operator-$name")" | sha256sum | cut -d ' ' -f 1)")
    done
    (
        IFS=,
        printf '%s' "${entries[*]}"
    )
}

setting() {
    printf "%s='%s'\n" "$1" "$2"
}

public_url() {
    printf 'http://127.0.0.1:%s' "$(free_port "$run/ports/$1")"
}

internal_url() {
    printf 'http://127.0.0.1:%s' "$(free_port "$run/ports/$1-internal")"
}

# Where every service answers, for peers and for transfactl.
peer_urls() {
    local service
    for service in "${services[@]}" sandbox; do
        setting "${service^^}_URL" "$(public_url "$service")"
        setting "${service^^}_INTERNAL_URL" "$(internal_url "$service")"
    done
}

# The outside world, played by the sandbox.
provider_environment() {
    local sandbox
    sandbox=$(public_url sandbox)
    setting CLERK_JWKS_URL "$sandbox/.well-known/jwks.json"
    setting CLERK_ISSUER "$clerk_issuer"
    setting CLERK_AUTHORIZED_PARTIES "https://app.sandbox.transfa.test"
    setting ANCHOR_BASE_URL "$sandbox"
    setting ANCHOR_API_KEY "$(secret_in "$run/secrets/anchor-api-key")"
    setting ANCHOR_WEBHOOK_TOKEN "$(webhook_token)"
}

sandbox_environment() {
    setting SANDBOX_STATE_DIR "$run/sandbox"
    setting ANCHOR_API_KEY "$(secret_in "$run/secrets/anchor-api-key")"
    setting ANCHOR_WEBHOOK_TOKEN "$(webhook_token)"
    setting ANCHOR_POOL_ACCOUNT_ID "$pool_account"
    setting ANCHOR_WEBHOOK_URL "$(public_url notification)/webhooks/anchor"
    setting CLERK_ISSUER "$clerk_issuer"
    setting CLERK_WEBHOOK_SECRET "whsec_$(key_in "$run/secrets/clerk-webhook-secret")"
    setting CLERK_WEBHOOK_URL "$(public_url auth)/webhooks/clerk"
    setting APNS_PORT "$(free_port "$run/ports/apns")"
    setting APNS_CERTIFICATE_FILE "$(push_certificate)"
}

clerk_issuer=https://clerk.sandbox.transfa.test
pool_account=17000000000000-anc_acc

# Where the stand-in for Apple's push service leaves its certificate.
push_certificate() {
    printf '%s' "$run/sandbox/apns.pem"
}

# The provider allows ten characters at most.
webhook_token() {
    secret_in "$run/secrets/anchor-webhook-token" | head -c 10
}

write_service_environments() {
    local service
    for service in sandbox "${services[@]}"; do
        (umask 077 && service_environment "$service" >"$run/$service.env")
    done
    {
        peer_urls
        setting INTERNAL_TOKEN "$(secret_in "$run/secrets/internal-token")"
    } >"$run/transfactl.env"
}

# with_environment <env file> <command...>: runs a command with these variables and PATH and HOME only. The process
# that is started becomes the command.
with_environment() {
    # shellcheck disable=SC2016
    env -i PATH="$PATH" HOME="${HOME:-/}" bash -c 'set -a; source "$1"; set +a; shift; exec "$@"' with_environment "$@"
}

migrate_service() {
    local service=$1 settings="$run/databases/$1-migration.env"
    (umask 077 && cat "$run/$service.env" "$run/databases/$service.env" >"$settings")
    with_environment "$settings" "$binaries/$service" --migrate-only || fail "the migrations of $service failed"
}

# Databases with their migrations, and the settings of all services; the servers run already.
create_databases() {
    local service
    # shellcheck source=/dev/null
    source "$run/servers/servers.env"
    for service in "${services[@]}"; do create_database "$TRANSFA_TEST_POSTGRES_URL" "$run" "$service"; done
    write_service_environments
    for service in "${services[@]}"; do migrate_service "$service"; done
}

start_sandbox() {
    mkdir -p "$run/sandbox"
    start_service sandbox
    await_service sandbox
}

# After the sandbox, which stands in for what they ask when they start.
start_suite() {
    local service
    for service in "${services[@]}"; do start_service "$service"; done
    for service in "${services[@]}"; do await_service "$service"; done
}

# start_service <name> [<executable>]: with the settings of that name.
start_service() {
    local service=$1 executable=${2:-$1}
    must_be_free "$service" "$run/ports/$service" "$run/ports/$service-internal"
    # shellcheck disable=SC2016
    start_process "$run/pids/$service" "$run/logs/$service.log" env -i PATH="$PATH" HOME="${HOME:-/}" \
        bash -c 'set -a; source "$1"; set +a; exec "$2"' "$service" "$run/$service.env" "$binaries/$executable" \
        || fail "$service ended at once: $(tail -n 1 "$run/logs/$service.log")"
}

service_ready() {
    if [[ $1 == sandbox ]]; then
        # It has no internal port.
        port_answers "$(<"$run/ports/sandbox")"
        return
    fi
    curl -fsS -o /dev/null --max-time 2 -H "authorization: Bearer $(<"$run/secrets/internal-token")" \
        "$(internal_url "$1")/health/ready" 2>/dev/null
}

await_service() {
    local service=$1 deadline=$((SECONDS + 60))
    until service_ready "$service"; do
        if ! running_pid "$run/pids/$service" >/dev/null || ((SECONDS >= deadline)); then
            tail -n 20 "$run/logs/$service.log" >&2
            fail "$service did not get ready, see $run/logs/$service.log"
        fi
        sleep 0.2
    done
}

# All at once, each with the time it asked for.
stop_services() {
    local service
    for service in "${services[@]}" sandbox; do
        stop_process "$run/pids/$service" TERM 15 &
    done
    wait
}
