#!/usr/bin/env bash
# The database and the three roles of every service, in docker-compose. Repeatable.
set -euo pipefail

for service in auth customer account transaction subscription notification analytics console; do
    for role in OWNER HANDLER WORKER; do
        password=${service^^}_${role}_PASSWORD
        [[ -n ${!password:-} ]] || {
            printf '%s is not set: scripts/compose-env writes .env\n' "$password" >&2
            exit 1
        }
        export "TRANSFA_${role}_PASSWORD=${!password}"
    done
    psql "$ADMIN_URL" -Xq -v "database=transfa_$service" -v "owner=${service}_owner" -v "handler=${service}_handler" \
        -v "worker=${service}_worker" -f /setup/roles.sql
    printf '%s: database and roles are there\n' "$service"
done
