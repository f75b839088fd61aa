
# tap_element <step> (<attribute> <value>)...: taps the middle of the element that the screen shows now
tap_element() {
  local step=$1 named='' screen nodes value
  shift
  screen=''
  if [ "$dry_run" = 0 ]; then
    screen=$(adb -s "$device" exec-out uiautomator dump /dev/tty) || fail "step $step: the screen cannot be read"
  fi
  nodes=$(printf '%s' "$screen" | tr '>' '\n')
  while [ "$#" -gt 1 ]; do
    named="$named $1=$2"
    # As the screen's XML writes it
    value=${2//'&'/'&amp;'}
    value=${value//'<'/'&lt;'}
    value=${value//'>'/'&gt;'}
    value=${value//'"'/'&quot;'}
    nodes=$(printf '%s\n' "$nodes" | grep -F -- " $1=\"$value\"" || true)
    shift 2
  done
  printf 'step %s: tap the element with%s\n' "$step" "$named"
  if [ "$dry_run" = 1 ]; then
    return 0
  fi
  local places count x1 y1 x2 y2
  places=$(printf '%s\n' "$nodes" | sed -n 's/.* bounds="\[\([0-9]*\),\([0-9]*\)\]\[\([0-9]*\),\([0-9]*\)\]".*/\1 \2 \3 \4/p' | sort -u)
  count=$(printf '%s' "$places" | grep -c . || true)
  case "$count" in
    0) fail "step $step: no element with$named is on the screen" ;;
    1) ;;
    *) fail "step $step: $count elements with$named are on the screen; tap the right one by hand" ;;
  esac
  read -r x1 y1 x2 y2 <<<"$places"
  adb -s "$device" shell input tap "$(((x1 + x2) / 2))" "$(((y1 + y2) / 2))"
}
