#!/bin/sh
# A technician's visit to a fresh Debian on ARM: install the package, set the cable, enrol by code, READY, the first sale over a
# serial line. The box is a root of its own (debootstrap), entered by chroot. While it runs, the kernel is told to hand ARM programs
# to qemu (binfmt_misc); that is taken back at the end. proot of Debian 12 cannot do it: it does not know statx. Ten minutes at most;
# the root is made once (out/visit). No init system runs in it: `posagent run` stands for the service.
set -u
go=${GO:-go}
dir=$PWD/out/visit
root=$dir/root

give_up() {
	echo "not run: the visit needs $1"
	[ "${REQUIRE_ALL:-}" = 1 ] && exit 1
	exit 0
}
failed() {
	echo "FAILED: $1" >&2
	for log in "$dir"/*.log; do echo "== $log" && tail -n 20 "$log"; done >&2
	exit 1
}

[ "$(id -u)" = 0 ] || give_up "root, for debootstrap"
for tool in debootstrap qemu-arm-static socat unshare; do
	command -v $tool >/dev/null 2>&1 || timeout 120 apt-get install -y --no-install-recommends $tool >/dev/null 2>&1
	command -v $tool >/dev/null 2>&1 || give_up "$tool"
done
misc=/proc/sys/fs/binfmt_misc
pids=''
mine=''
leave() {
	[ -z "$pids" ] || kill $pids 2>/dev/null
	wait
	[ -z "$mine" ] || echo -1 >"$misc/posagent-visit"
}
trap leave EXIT
trap 'exit 130' INT TERM
[ -e "$misc/register" ] || mount -t binfmt_misc none "$misc" 2>/dev/null || give_up "binfmt_misc in the kernel"
if [ ! -e "$misc/qemu-arm" ] && [ ! -e "$misc/posagent-visit" ]; then
	printf '%s' ':posagent-visit:M::\x7fELF\x01\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x28\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:'"$(command -v qemu-arm-static)"':F' >"$misc/register" || give_up "leave to register qemu-arm"
	mine=yes
fi
enter() { exec unshare -m sh -c 'mount --bind /dev "$0/dev" && mount --bind /dev/pts "$0/dev/pts" && mount -t proc proc "$0/proc" && exec chroot "$0" /usr/bin/env PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/ "$@"' "$root" "$@"; }
box() { (enter "$@"); }

mkdir -p "$dir"
if [ ! -e "$root/.made" ]; then
	echo "making a fresh Debian for armhf in $root (some minutes)"
	rm -rf "$root"
	debootstrap --arch=armhf --variant=minbase --foreign --include=ca-certificates bookworm "$root" >"$dir/debootstrap.log" 2>&1 || give_up "Debian's mirror; $dir/debootstrap.log says more"
	[ ! -L "$root/proc" ] || { rm "$root/proc" && mkdir "$root/proc"; } # in a container it is made a link to the host's
	box DEBOOTSTRAP_DIR=/debootstrap /debootstrap/debootstrap --second-stage >>"$dir/debootstrap.log" 2>&1 || failed "the second stage of debootstrap"
	: >"$root/.made"
fi
rm -rf "$root/var/lib/posagent" "$root/etc/posagent" "$dir/backend" "$dir"/till "$dir"/cable "$dir"/[e-t]*.log # of an earlier visit
box dpkg --purge posagent >/dev/null 2>&1
"$go" run ./cross/build/packages build -out "$dir/packages" -only armv7 >"$dir/packages.log" 2>&1 || failed "make packages"
cp "$dir"/packages/posagent_*armv7.deb "$root/srv/posagent.deb" || failed "no package"
CGO_ENABLED=0 "$go" build -trimpath -tags nethttpomithttp2 -o "$dir/posagent" ./cmd/posagent || failed "build"

"$dir/posagent" backend --fleet --listen 127.0.0.1:0 --state "$dir/backend" >"$dir/backend.log" 2>&1 &
pids="$pids $!"
socat -d -d pty,raw,echo=0,link="$dir/till" pty,raw,echo=0,link="$dir/cable" >"$dir/socat.log" 2>&1 &
pids="$pids $!"
until grep -q '^listening on' "$dir/backend.log" && [ -e "$dir/cable" ]; do sleep 0.2; done
url=$(sed -n 's/^listening on //p' "$dir/backend.log")
code=$("$dir/posagent" backend fleet create --merchant M1 --terminal T1 --bax B1 --state "$dir/backend" 2>/dev/null | sed -n 's/^code *//p')
cable=$(readlink -f "$dir/cable")
began=$(date +%s)

echo "1  dpkg -i posagent.deb"
box dpkg -i /srv/posagent.deb >"$dir/install.log" 2>&1 || failed "dpkg -i"
echo "2  the cable: [ecr] serial = \"$cable\""
sed -i "s|^# serial = .*|serial = \"$cable\"|; s|^serial = \"\".*|serial = \"$cable\"|" "$root/etc/posagent/config.toml"
grep -q "^serial = \"$cable\"" "$root/etc/posagent/config.toml" || failed "the example has no line for the cable"
chmod 666 "$cable" # as the udev rule does for a converter
enter /usr/bin/setpriv --reuid posagent --regid posagent --init-groups /usr/bin/posagent run --no-sandbox >"$dir/terminal.log" 2>&1 & # systemd has started it where there is one
pids="$pids $!"
n=0
until grep -q 'not enrolled' "$dir/terminal.log"; do # systemd, too, has started it long before a person types
	n=$((n + 1))
	[ "$n" -le 120 ] || failed "the terminal does not start"
	sleep 0.5
done
echo "3  posagent enroll $code --url $url"
said=$(box /usr/bin/posagent enroll "$code" --url "$url" 2>"$dir/enroll.log") || failed "enroll: $said"
echo "$said" | sed 's/^/   /'
case $said in
*READY*) ;;
*) failed "not READY: $said" ;;
esac
echo "4  posagent status"
box /usr/bin/posagent status >"$dir/status.log" || failed "status"
sed 's/^/   /' "$dir/status.log"
grep -q '^terminal   T1 ' "$dir/status.log" || failed "it is not the terminal that was enrolled"
echo "   $(($(date +%s) - began)) s from the shell to READY, emulated"
echo "the register asks for its first sale"
"$dir/posagent" register pay 12.50 --line "$(readlink -f "$dir/till")" >"$dir/sale.log" 2>&1 || failed "the sale: $(tail -n 3 "$dir/sale.log")"
tail -n 3 "$dir/sale.log" | sed 's/^/   /'
"$dir/posagent" backend books --state "$dir/backend" --json | grep -q '"amount": 1250' || failed "the books have no such sale"
echo "the books have it: a visit of four commands"
