
# need <NAME> plain|secret [default]: SINEW_P_<NAME>, else the default, else an answer
need() {
  local variable="SINEW_P_$1" value
  value=${!variable:-}
  if [ -z "$value" ] && [ "$#" -gt 2 ]; then
    value=$3
  fi
  if [ -z "$value" ] && [ "$dry_run" = 0 ]; then
    [ -t 0 ] || fail "set $variable"
    if [ "$2" = secret ]; then
      read -r -s -p "$1 (not shown): " value
      printf '\n'
    else
      read -r -p "$1: " value
    fi
  fi
  printf -v "$variable" '%s' "$value"
  export "${variable?}"
}
