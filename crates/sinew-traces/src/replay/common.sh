set -euo pipefail

dry_run=0
yes=0
device=''
while [ "$#" -gt 0 ]; do
  case "$1" in
    --dry-run) dry_run=1 ;;
    --yes) yes=1 ;;
    -*) printf 'unknown option: %s\n' "$1" >&2; exit 2 ;;
    *) device=$1 ;;
  esac
  shift
done
: "$yes" "$device"

fail() {
  printf '%s\n' "$1" >&2
  exit 1
}

# show <step> <text>: whether a step that only looks or touches is done
show() {
  printf 'step %s: %s\n' "$1" "$2"
  [ "$dry_run" = 0 ]
}

# skip <step> <why>: a step that cannot be replayed is told, never passed over in silence
skip() {
  printf 'step %s: %s\n' "$1" "$2"
}

# ask <step> ask|danger <text>: whether a step that may change something is done
ask() {
  printf 'step %s: %s\n' "$1" "$3"
  if [ "$dry_run" = 1 ]; then
    return 1
  fi
  if [ "$2" = ask ] && [ "$yes" = 1 ]; then
    return 0
  fi
  if ! [ -t 0 ]; then
    fail "step $1 may change something: run this in a terminal, or with --yes where that is enough"
  fi
  local answer
  read -r -p 'run it? [y/N] ' answer
  case "$answer" in
    y | Y | yes) return 0 ;;
    *) fail "stopped before step $1" ;;
  esac
}
