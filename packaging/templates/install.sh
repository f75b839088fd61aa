#!/bin/sh
# Installs sinew {{version}} for the current user: fetches the archive for this machine, compares its checksum with
# the release's list, and puts the program into a folder. Nothing else is changed.
#
#   SINEW_INSTALL_DIR   the folder [~/.local/bin]
#   SINEW_DOWNLOAD_URL  where the release's files are
set -eu

version='{{version}}'
base=${SINEW_DOWNLOAD_URL:-'{{base_url}}'}
folder=${SINEW_INSTALL_DIR:-"$HOME/.local/bin"}
platforms='{{platforms}}'

fail() {
  echo "install.sh: $1" >&2
  exit 1
}

case $(uname -s) in
  Linux) system=linux ;;
  Darwin) system=darwin ;;
  *) fail "there is no package for $(uname -s); on Windows use install.ps1" ;;
esac
case $(uname -m) in
  x86_64 | amd64) cpu=x64 ;;
  aarch64 | arm64) cpu=arm64 ;;
  *) fail "there is no package for $(uname -m); build from source with cargo" ;;
esac
target=
for one in $platforms; do
  case $one in "$system-$cpu="*) target=${one#*=} ;; esac
done
[ -n "$target" ] || fail "this release has no package for $system-$cpu; build from source with cargo"

fetch() {
  if command -v curl >/dev/null 2>&1; then
    curl --fail --silent --show-error --location --output "$2" "$1"
  elif command -v wget >/dev/null 2>&1; then
    wget --quiet --output-document="$2" "$1"
  else
    fail "neither curl nor wget is here to fetch $1"
  fi
}

digest() {
  if command -v sha256sum >/dev/null 2>&1; then
    sha256sum "$1" | cut -d ' ' -f 1
  elif command -v shasum >/dev/null 2>&1; then
    shasum -a 256 "$1" | cut -d ' ' -f 1
  else
    fail "neither sha256sum nor shasum is here to check the archive"
  fi
}

name="sinew-$version-$target"
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT INT TERM
fetch "$base/$name.tar.gz" "$temporary/sinew.tar.gz"
fetch "$base/SHA256SUMS" "$temporary/SHA256SUMS"
wanted=$(sed -n "s/^\([0-9a-f]\{64\}\)  $name\.tar\.gz\$/\1/p" "$temporary/SHA256SUMS")
[ -n "$wanted" ] || fail "SHA256SUMS does not name $name.tar.gz"
found=$(digest "$temporary/sinew.tar.gz")
[ "$found" = "$wanted" ] || fail "the archive is not the released one: its SHA-256 is $found, not $wanted"
tar -xzf "$temporary/sinew.tar.gz" -C "$temporary"
mkdir -p "$folder"
# A rename, so that a running program is replaced and never half written.
cp "$temporary/$name/sinew" "$folder/.sinew.new"
chmod 755 "$folder/.sinew.new"
mv -f "$folder/.sinew.new" "$folder/sinew"
echo "sinew $version is at $folder/sinew"
case ":$PATH:" in
  *":$folder:"*) echo "next: sinew setup" ;;
  *) echo "next: add $folder to PATH, then run: sinew setup" ;;
esac
