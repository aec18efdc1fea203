#!/bin/sh
# Ends everything that the test nodes started and takes back what they changed: clean_up.sh NAME DIRECTORY [PID]
# With PID it first waits for the end of that process, however it ends. Every process of a lab is in a cgroup whose name begins
# with its own, so none is missed and none of another program is hit; mounts and interfaces go with the namespaces.
set -u
name=$1
directory=$2
if [ -n "${3:-}" ]; then
  while kill -0 "$3" 2>/dev/null; do sleep 1; done
fi

attempt=0
while [ $attempt -lt 20 ]; do
  pids=$(find /sys/fs/cgroup/pids/ -path "*/$name-*" -name cgroup.procs -exec cat {} + 2>/dev/null | sort -u)
  [ -n "$pids" ] || break
  # shellcheck disable=SC2086 # one argument a process
  kill -9 $pids 2>/dev/null
  sleep 0.2
  attempt=$((attempt + 1))
done

for hierarchy in /sys/fs/cgroup/*/; do
  for group in "$hierarchy$name"-*; do
    [ -d "$group" ] && find "$group" -depth -type d -exec rmdir {} \; 2>/dev/null
  done
done

# The kubelet sets these for the whole machine.
if [ -f "$directory/sysctl.before" ]; then
  while IFS='=' read -r key value; do
    printf '%s' "$value" > "/proc/sys/$key"
  done < "$directory/sysctl.before"
fi
[ -n "${ARCHWAY_TEST_KEEP:-}" ] || rm -rf "$directory"
exit 0
