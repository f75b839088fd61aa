
# tap_element <step> <attribute> <value>: taps the middle of the element that the screen shows now
tap_element() {
  printf 'step %s: tap the element with %s %s\n' "$1" "$2" "$3"
  if [ "$dry_run" = 1 ]; then
    return 0
  fi
  local screen node bounds
  screen=$(adb -s "$device" exec-out uiautomator dump /dev/tty) || fail "step $1: the screen cannot be read"
  node=$(printf '%s' "$screen" | tr '>' '\n' | grep -F -m 1 -- " $2=\"$3\"" || true)
  bounds=$(printf '%s' "$node" | sed -n 's/.* bounds="\[\([0-9]*\),\([0-9]*\)\]\[\([0-9]*\),\([0-9]*\)\]".*/\1 \2 \3 \4/p')
  if [ -z "$bounds" ]; then
    fail "step $1: no element with $2 $3 is on the screen"
  fi
  local x1 y1 x2 y2
  read -r x1 y1 x2 y2 <<<"$bounds"
  adb -s "$device" shell input tap "$(((x1 + x2) / 2))" "$(((y1 + y2) / 2))"
}
