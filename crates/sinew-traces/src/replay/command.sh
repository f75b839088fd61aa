
# run_command <step> ask|danger <command>: in the recorded folder, by a shell of its own
run_command() {
  if ask "$1" "$2" "$3"; then
    (cd -- "$SINEW_P_WORKDIR" && bash -c "$3")
  fi
}
