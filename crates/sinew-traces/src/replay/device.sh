
# The device: the argument, else the first one that is connected
find_device() {
  if [ -z "$device" ] && [ "$dry_run" = 0 ]; then
    device=$(adb devices | awk 'NR > 1 && $2 == "device" { print $1; exit }')
    [ -n "$device" ] || fail 'no device is connected'
  fi
}
