#!/bin/sh
# Boots an emulated ARMv7 board with 64 MB of memory and nothing on it but posagent, makes a sale, prints what the kernel
# says of the program's memory. Fetches a Debian kernel once (out/guest); five minutes at most.
set -u
go=${GO:-go}
dir=out/guest

give_up() {
	echo "not run: the 64 MB guest needs $1"
	[ "${REQUIRE_ALL:-}" = 1 ] && exit 1
	exit 0
}

command -v apt-get >/dev/null 2>&1 || give_up "a Debian, for its kernel"
if ! command -v qemu-system-arm >/dev/null 2>&1; then
	[ "$(id -u)" = 0 ] && timeout 120 apt-get install -y --no-install-recommends qemu-system-arm >/dev/null 2>&1
	command -v qemu-system-arm >/dev/null 2>&1 || give_up "qemu-system-arm (install: apt-get install qemu-system-arm)"
fi

# The kernel of another architecture, with package lists of its own: the machine's stay as they are.
set -- "$dir"/boot/vmlinuz-*
if [ ! -e "$1" ]; then
	mkdir -p "$dir/apt/lists/partial" "$dir/apt/archives/partial"
	: >"$dir/apt/status"
	here=$PWD/$dir/apt
	fetch() {
		timeout 90 apt-get -q -o APT::Architecture=armhf -o APT::Architectures=armhf -o APT::Sandbox::User= -o Dir::State="$here" \
			-o Dir::State::Lists="$here/lists" -o Dir::State::status="$here/status" -o Dir::Cache="$here" "$@" 2>>"$here/log"
	}
	fetch update >>"$here/log" # lists of other vendors may be missing; the next line tells whether Debian's is there
	package=$(timeout 30 apt-cache -o APT::Architecture=armhf -o APT::Architectures=armhf -o Dir::State="$here" -o Dir::State::Lists="$here/lists" \
		-o Dir::State::status="$here/status" -o Dir::Cache="$here" depends linux-image-armmp | sed -n 's/ *Depends: //p' | head -n 1)
	[ -n "$package" ] || give_up "package lists of armhf; $here/log says more"
	(cd "$dir/apt" && fetch download "$package" >>log) || give_up "the package $package; $here/log says more"
	dpkg-deb --fsys-tarfile "$dir"/apt/linux-image-*.deb | tar -x -C "$dir" --wildcards './boot/vmlinuz-*' || exit 1
	rm -rf "$dir/apt"
	set -- "$dir"/boot/vmlinuz-*
fi

CGO_ENABLED=0 GOARCH=arm GOARM=7 "$go" build -trimpath -tags nethttpomithttp2 -ldflags="-s -w" -o "$dir/posagent" ./cmd/posagent || exit 1
CGO_ENABLED=0 GOARCH=arm GOARM=7 "$go" build -trimpath -ldflags="-s -w" -o "$dir/init" ./cross/guest || exit 1
"$go" run ./cross/guest "$dir/init" "$dir/posagent" >"$dir/initramfs" || exit 1

timeout 180 qemu-system-arm -M virt,highmem=off -cpu cortex-a7 -m 64 -nographic -no-reboot -nic none \
	-kernel "$1" -initrd "$dir/initramfs" -append 'console=ttyAMA0 quiet panic=-1 rootfstype=ramfs cma=0' </dev/null >"$dir/log" 2>&1
tr -d '\r' <"$dir/log" | sed -n 's/^guest: //p'
tr -d '\r' <"$dir/log" | grep -q '^guest: ok' && exit 0
tail -n 20 "$dir/log"
echo "the guest did not end well; $dir/log has all it said"
exit 1
