#!/usr/bin/bash
# Asks the process of this container whether it is ready; the sandbox has no internal port and answers on its own.
set -eu

port=${INTERNAL_PORT:-9080}
path=/health/ready
if [[ -e /app/sandbox ]]; then
    port=${PORT:-8080}
    path=/sandbox/health
fi
exec 3<>"/dev/tcp/127.0.0.1/$port"
printf 'GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' "$path" >&3
IFS=' ' read -r -t 2 _ status _ <&3
[[ $status == 200 ]]
