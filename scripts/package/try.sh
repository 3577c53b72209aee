#!/usr/bin/env bash
# Installs a package (.deb or .rpm) into an empty root, runs a scenario there and
# removes the package again. Needs root; without it the program of a .deb is only
# unpacked and run.
set -euo pipefail
package=$(realpath "$1")
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

if [ "$(id -u)" != 0 ]; then
	[ "${package%.deb}" != "$package" ] || exit 0
	dpkg-deb -x "$package" "$root"
	"$root/usr/bin/bench" version
	exit
fi

mkdir -p "$root/tmp" "$root/proc" "$root/dev/shm" "$root/work"
case $package in
*.deb)
	mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates"
	touch "$root/var/lib/dpkg/status"
	dpkg --root="$root" --install "$package" >/dev/null
	remove=(dpkg --root="$root" --remove bench)
	zsh=vendor-completions
	;;
*.rpm)
	rpm --root="$root" --install "$package"
	remove=(rpm --root="$root" --erase bench)
	zsh=site-functions
	;;
esac
[ -s "$root/usr/share/zsh/$zsh/_bench" ]
gzip -dc "$root/usr/share/man/man1/bench-run.1.gz" | grep -q 'Run a scenario'

# systemd says on stderr what it does not understand of a unit, and accepts it.
for unit in bench-watch bench-queue; do
	sed "s|/usr/bin/bench|$root&|" "$root/usr/lib/systemd/user/$unit.service" >"$root/tmp/$unit.service"
	command -v systemd-analyze >/dev/null || continue
	said=$(XDG_RUNTIME_DIR=$root/tmp systemd-analyze verify --user --man=no "$root/tmp/$unit.service" 2>&1)
	[ -z "$said" ] || { echo "$said"; exit 1; }
done

# A mount namespace of its own: its /proc and /dev go with it.
unshare --mount --fork bash -c '
	set -euo pipefail
	mount --rbind /proc "$1/proc"
	touch "$1/dev/null" && mount --bind /dev/null "$1/dev/null"
	inside() { env -i HOME=/work PATH=/usr/bin /usr/sbin/chroot "$1" /usr/bin/bench "${@:2}"; }
	inside "$1" init quickstart >"$1/work/quickstart.yaml"
	inside "$1" run /work/quickstart.yaml --plain --out /work/results \
		--set repeats=1 --set load.num-prompts=8
' try "$root" >"$root/out" 2>"$root/err" || { cat "$root/err"; exit 1; }
grep -m1 . "$root/out"
ls "$root"/work/results/*/*/report.html >/dev/null

"${remove[@]}" >/dev/null
[ ! -e "$root/usr/bin/bench" ]
echo "installed, ran a scenario and was removed: $(basename "$package")"
