
# human_auth <step> <what>: the run asked a person here, and so does its replay; no option says yes
# in advance
human_auth() {
  printf 'step %s: the run asked a person: %s\n' "$1" "$2"
  if [ "$dry_run" = 1 ]; then
    return 0
  fi
  if ! [ -t 0 ]; then
    fail "step $1 needs a person's consent: run this in a terminal"
  fi
  local answer
  read -r -p 'do you agree? [y/N] ' answer
  case "$answer" in
    y | Y | yes) return 0 ;;
    *) fail "stopped at step $1: no consent" ;;
  esac
}
