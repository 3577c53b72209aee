#!/usr/bin/env bash
# Writes manual pages and completions to share/, for the packages of a release.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p share/man share/completion
go run ./cmd/bench man share/man
for shell in bash zsh fish; do go run ./cmd/bench completion $shell > share/completion/bench.$shell; done
gzip -9nf share/man/*.1
