#!/bin/sh
# Finds Deno and the scripts beside itself: krew links to it from elsewhere. It runs with the rights of who calls it.
file=$0
while [ -L "$file" ]; do
  link=$(readlink "$file")
  case $link in /*) file=$link ;; *) file=$(dirname "$file")/$link ;; esac
done
here=$(cd "$(dirname "$file")" && pwd)
export DENO_NO_UPDATE_CHECK=1
exec "$here/deno" run --quiet --allow-all --no-config --no-lock --unstable-kv "$here/archway/main.js" "$@"
