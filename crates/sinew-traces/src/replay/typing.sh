
# A text as one word of the device's shell
quoted() {
  local quote="'\\''"
  printf "'%s'" "${1//\'/$quote}"
}

# Types a text: plain characters as keys, anything else through the clipboard
type_text() {
  local text=$1 LC_ALL=C
  case "$text" in
    *%s* | *[!\ -~$'\n']*)
      adb -s "$device" shell "cmd clipboard set text $(quoted "$text")"
      adb -s "$device" shell input keyevent KEYCODE_PASTE
      ;;
    *)
      text=${text// /%s}
      text=${text//$'\n'/%s}
      adb -s "$device" shell "input text $(quoted "$text")"
      ;;
  esac
}
