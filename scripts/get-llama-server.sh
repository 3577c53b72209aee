#!/usr/bin/env bash
# Fetches llama.cpp's programs (llama-server, llama-bench, ...) from Debian's
# archive into a folder of their own.
#
#   scripts/get-llama-server.sh DEST
#
# Afterwards DEST/bin/llama-server runs. The packages want a newer libc than
# the host may have, so everything they need is unpacked below DEST and the
# programs are started through the unpacked loader: nothing is installed, and
# the host's packages stay as they are. The archive is the one that apt on this
# machine already uses; its keys are checked as apt always does.
#
# Does nothing when DEST/bin/llama-server already runs. Remove DEST to fetch
# again: Debian's testing suite moves, so the version is the day's.
#
# LLAMA_SUITES  suites to try, in order (default "forky sid")
set -euo pipefail

readonly keyring=/usr/share/keyrings/debian-archive-keyring.gpg

die() {
  printf 'get-llama-server: %s\n' "$*" >&2
  exit 1
}

# version prints the server's version line; it fails where the server does not run.
version() {
  "$1/bin/llama-server" --version 2>&1 | grep -m1 '^version'
}

# archive prints the address of the Debian archive that this machine's apt knows.
archive() {
  # shellcheck disable=SC2016 # the placeholders are apt's
  apt-get indextargets --format '$(ORIGIN) $(LABEL) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
    awk '$1 == "Debian" && $2 == "Debian" { print $3; exit }'
}

# write_apt_conf makes an apt root in $1 that shares nothing with the host's.
write_apt_conf() {
  local apt=$1
  mkdir -p "$apt/lists/partial" "$apt/archives/partial"
  : >"$apt/status"
  cat >"$apt/apt.conf" <<CONF
Dir::State "$apt";
Dir::State::status "$apt/status";
Dir::State::lists "$apt/lists";
Dir::Cache "$apt";
Dir::Cache::archives "$apt/archives";
Dir::Etc::SourceList "$apt/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::Etc::PreferencesParts "/dev/null";
APT::Sandbox::User "root";
APT::Install-Recommends "false";
Acquire::Languages "none";
Acquire::Retries "3";
CONF
}

# download fetches the programs of llama.cpp of suite $3 from archive $2, with all it
# depends on, into the apt root $1.
download() {
  local apt=$1 uri=$2 suite=$3
  printf 'deb [signed-by=%s] %s %s main\n' "$keyring" "$uri" "$suite" >"$apt/sources.list"
  APT_CONFIG=$apt/apt.conf apt-get -qq update &&
    APT_CONFIG=$apt/apt.conf apt-get -qq -y --download-only install llama.cpp-tools llama.cpp-tools-extra >/dev/null
}

# write_starters makes $1/bin/NAME for each llama program below $1/root. They
# exec the loader, so the process id is the program's own.
write_starters() {
  local dest=$1 llama lib loader program name
  llama=$(find "$dest/root/usr/lib" -name 'libllama.so.*' -print -quit)
  [[ -n $llama ]] || die "the packages hold no libllama.so: see $dest/root"
  lib=$(dirname "$llama")
  loader=$(find "$lib" -maxdepth 1 -name 'ld-linux*.so.*' -print -quit)
  [[ -n $loader ]] || die "the packages hold no loader: see $lib"

  # ggml looks for its CPU variants beside the running executable, which is the loader.
  find "$lib/ggml" -path '*backends*' -name 'libggml-cpu-*.so' -exec ln -sf -t "$lib" {} +

  mkdir -p "$dest/bin"
  for program in "$dest"/root/usr/bin/llama-*; do
    name=${program##*/}
    printf '#!/bin/sh\nexec "%s" --library-path "%s:%s/llama" --argv0 %s "%s" "$@"\n' \
      "$loader" "$lib" "$lib" "$name" "$program" >"$dest/bin/$name"
    chmod +x "$dest/bin/$name"
  done
}

main() {
  [[ $# -eq 1 && -n $1 && $1 != -* ]] || die "usage: get-llama-server.sh DEST"
  local dest apt uri tool suite deb got=
  mkdir -p "$1"
  dest=$(cd "$1" && pwd)

  if [[ -x $dest/bin/llama-server ]] && version "$dest"; then
    return
  fi
  for tool in apt-get dpkg-deb; do
    command -v "$tool" >/dev/null || die "$tool not found: this needs a Debian machine; elsewhere install llama.cpp yourself"
  done
  [[ -r $keyring ]] || die "$keyring not found: install debian-archive-keyring"

  uri=$(archive)
  if [[ -z $uri ]]; then
    apt-get -qq update || die "apt-get update: cannot read this machine's package lists (run it as root once)"
    uri=$(archive)
  fi
  [[ -n $uri ]] || die "this machine's apt sources name no Debian archive"

  apt=$dest/apt
  rm -rf "${apt:?}" "${dest:?}/root" "${dest:?}/bin"
  write_apt_conf "$apt"
  for suite in ${LLAMA_SUITES:-forky sid}; do
    if download "$apt" "$uri" "$suite"; then
      got=$suite
      break
    fi
    printf 'get-llama-server: suite %s has no usable llama.cpp-tools\n' "$suite" >&2
  done
  [[ -n $got ]] || die "no suite of ${LLAMA_SUITES:-forky sid} gave llama.cpp-tools (see above)"

  for deb in "$apt"/archives/*.deb; do
    dpkg-deb -x "$deb" "$dest/root"
  done
  write_starters "$dest"
  rm -rf "$apt"
  version "$dest" || die "$dest/bin/llama-server does not run: start it by hand to see why"
}

main "$@"
