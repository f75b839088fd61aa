
files=()
file=''
remove_files() {
  if [ "${#files[@]}" -gt 0 ]; then
    rm -f -- "${files[@]}"
  fi
}
trap remove_files EXIT

new_file() {
  file=$(mktemp)
  files+=("$file")
}

# run_file <step> ask|danger: the script that was embedded last
run_file() {
  if ask "$1" "$2" "the script of step $1"; then
    (cd -- "$SINEW_P_WORKDIR" && bash -- "$file")
  fi
}
