#!/usr/bin/env bash
# Builds what a release consists of, without any network: static binaries for
# linux on amd64 and arm64 (ARCHS names fewer), archives, packages (.deb where
# dpkg-deb is installed, .rpm where rpmbuild is) and checksums in dist/.
# The release workflow builds the same with GoReleaser, and SBOMs too.
set -euo pipefail
cd "$(dirname "$0")/.."
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || echo 0)
export SOURCE_DATE_EPOCH # in manual pages

version=${VERSION:-$(git describe --tags --always --dirty 2>/dev/null || echo 0)}
version=${version#v}
most=25000000 # bytes of a binary: docs/performance.md says what is in it
mapfile -t flags < <(sed -n 's/^ *- \(-gcflags=.*\)/\1/p' .goreleaser.yaml)
tags=$(sed -n 's/^ *tags: \[\(.*\)\]/\1/p' .goreleaser.yaml)
link=$(sed -n 's/^ *ldflags: \["\(.*\)"\]/\1/p' .goreleaser.yaml)
rm -rf dist
mkdir -p dist/share/man dist/share/completion

build() { # build ARCH FILE
	CGO_ENABLED=0 GOOS=linux GOARCH=$1 go build -trimpath "${flags[@]}" -tags "$tags" \
		-ldflags "${link/'{{.Version}}'/$version}" -o "$2" ./cmd/bench
}

echo "== documents and completions"
build "$(go env GOARCH)" dist/bench
dist/bench man dist/share/man
for shell in bash zsh fish; do dist/bench completion $shell > dist/share/completion/bench.$shell; done
gzip -9n dist/share/man/*.1

tree() { # tree DIR BINARY ZSH: what a package installs, ZSH being the folder of zsh's completions
	install -D "$2" "$1/usr/bin/bench"
	install -D -m 644 -t "$1/usr/share/man/man1" dist/share/man/*.gz
	install -D -m 644 dist/share/completion/bench.bash "$1/usr/share/bash-completion/completions/bench"
	install -D -m 644 dist/share/completion/bench.zsh "$1/usr/share/zsh/$3/_bench"
	install -D -m 644 dist/share/completion/bench.fish "$1/usr/share/fish/vendor_completions.d/bench.fish"
	install -D -m 644 -t "$1/usr/lib/systemd/user" scripts/package/*.service
}

deb() { # deb NAME ARCH
	local root=dist/deb-$2 debian
	tree "$root" "dist/$1/bench" vendor-completions
	install -D -m 644 LICENSE "$root/usr/share/doc/bench/copyright"
	mkdir -p "$root/DEBIAN"
	# a Debian version begins with a digit
	case $version in [0-9]*) debian=$version ;; *) debian=0~$version ;; esac
	sed -e "s/@VERSION@/$debian/" -e "s/@ARCH@/$2/" scripts/package/control > "$root/DEBIAN/control"
	dpkg-deb --root-owner-group --build "$root" "dist/$1.deb" >/dev/null
	rm -rf "$root"
}

rpm_package() { # rpm_package NAME ARCH
	local root=$PWD/dist/rpm-$2 cpu=x86_64
	[ "$2" = amd64 ] || cpu=aarch64
	tree "$root" "dist/$1/bench" site-functions
	install -D -m 644 LICENSE "$root/usr/share/licenses/bench/LICENSE"
	find "$root" -type f -printf '/%P\n' > "$root.files"
	# the version of an RPM has no dash
	sed -e "s/@VERSION@/${version//-/.}/" -e "s|@ROOT@|$root|" scripts/package/bench.spec > "$root.spec"
	rpmbuild -bb --quiet --target $cpu --define "_topdir $root.build" --define "_rpmdir $PWD/dist" \
		--define "_rpmfilename $1.rpm" "$root.spec" >"$root.log" 2>&1 ||
		{ cat "$root.log" >&2; exit 1; }
	rm -rf "$root" "$root".*
}

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

	! command -v dpkg-deb >/dev/null || deb "$name" "$arch"
	! command -v rpmbuild >/dev/null || rpm_package "$name" "$arch"
done

echo "== the packages work"
arch=$(go env GOARCH)
"dist/bench_${version}_linux_$arch/bench" version
for package in "dist/bench_${version}_linux_$arch".{deb,rpm}; do
	[ ! -f "$package" ] || scripts/package/try.sh "$package"
done

(cd dist && rm -rf bench share bench_*_amd64 bench_*_arm64 && sha256sum bench_* > checksums.txt)
ls -l dist
