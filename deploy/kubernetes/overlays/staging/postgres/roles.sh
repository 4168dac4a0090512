#!/usr/bin/env bash
# Makes the database and the three roles of each service; repeatable. Passwords come as AUTH_OWNER_PASSWORD and so on.
set -euo pipefail

for service in ${SERVICES:?}; do
    for role in owner handler worker; do
        given="${service^^}_${role^^}_PASSWORD"
        declare -x "TRANSFA_${role^^}_PASSWORD=${!given:?}"
    done
    echo "$service"
    psql -Xq -v "database=transfa_$service" -v "owner=${service}_owner" -v "handler=${service}_handler" \
        -v "worker=${service}_worker" -f /etc/transfa/roles/roles.sql
done
