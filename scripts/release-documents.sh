#!/usr/bin/env bash
# Writes manual pages and completions to share/, for the packages of a release.
set -euo pipefail
cd "$(dirname "$0")/.."
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || echo 0)
export SOURCE_DATE_EPOCH # in manual pages
mkdir -p share/man share/completion
go run ./cmd/bench man share/man
for shell in bash zsh fish; do go run ./cmd/bench completion $shell > share/completion/bench.$shell; done
gzip -9nf share/man/*.1
