#!/usr/bin/env bash
# Builds what a release consists of, without any network: static binaries for
# linux on amd64 and arm64 (ARCHS names fewer), archives, Debian packages and
# checksums in dist/.
# The release workflow builds the same with GoReleaser, and RPMs and SBOMs too.
set -euo pipefail
cd "$(dirname "$0")/.."
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || echo 0)
export SOURCE_DATE_EPOCH # in manual pages

version=${VERSION:-$(git describe --tags --always --dirty 2>/dev/null || echo 0)}
version=${version#v}
most=26000000 # bytes of a binary, which should be below 25 million: docs/performance.md says what is in it
rm -rf dist
mkdir -p dist/share/man dist/share/completion

build() { # build ARCH FILE
	CGO_ENABLED=0 GOOS=linux GOARCH=$1 go build -trimpath -ldflags "-s -w -X main.version=$version" -o "$2" ./cmd/bench
}

echo "== documents and completions"
build "$(go env GOARCH)" dist/bench
dist/bench man dist/share/man
for shell in bash zsh fish; do dist/bench completion $shell > dist/share/completion/bench.$shell; done
gzip -9n dist/share/man/*.1

for arch in ${ARCHS:-amd64 arm64}; do
	echo "== linux $arch"
	name=bench_${version}_linux_$arch
	mkdir -p "dist/$name"
	build $arch "dist/$name/bench"
	size=$(stat -c %s "dist/$name/bench")
	[ "$size" -le $most ] || { echo "bench for $arch has $size bytes: want at most $most (docs/performance.md)" >&2; exit 1; }
	cp README.md CHANGELOG.md LICENSE "dist/$name"
	cp -r dist/share "dist/$name/share"
	tar -C dist --sort=name --owner=0 --group=0 --mtime='@0' -czf "dist/$name.tar.gz" "$name"

	command -v dpkg-deb >/dev/null || continue
	root=dist/deb-$arch
	install -D "dist/$name/bench" "$root/usr/bin/bench"
	install -D -m 644 -t "$root/usr/share/man/man1" dist/share/man/*.gz
	install -D -m 644 dist/share/completion/bench.bash "$root/usr/share/bash-completion/completions/bench"
	install -D -m 644 dist/share/completion/bench.zsh "$root/usr/share/zsh/vendor-completions/_bench"
	install -D -m 644 dist/share/completion/bench.fish "$root/usr/share/fish/vendor_completions.d/bench.fish"
	install -D -m 644 -t "$root/usr/lib/systemd/user" scripts/package/*.service
	install -D -m 644 LICENSE "$root/usr/share/doc/bench/copyright"
	mkdir -p "$root/DEBIAN"
	# a Debian version begins with a digit
	case $version in [0-9]*) debian=$version ;; *) debian=0~$version ;; esac
	sed -e "s/@VERSION@/$debian/" -e "s/@ARCH@/$arch/" scripts/package/control > "$root/DEBIAN/control"
	dpkg-deb --root-owner-group --build "$root" "dist/$name.deb" >/dev/null
	rm -rf "$root"
done

echo "== the packages work"
arch=$(go env GOARCH)
"dist/bench_${version}_linux_$arch/bench" version
[ ! -f "dist/bench_${version}_linux_$arch.deb" ] || scripts/package/try.sh "dist/bench_${version}_linux_$arch.deb"

(cd dist && rm -rf bench share bench_*_amd64 bench_*_arm64 && sha256sum bench_* > checksums.txt)
ls -l dist
