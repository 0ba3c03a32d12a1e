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

. cross/kernel.sh
kernel

CGO_ENABLED=0 GOARCH=arm GOARM=7 "$go" build -trimpath -tags nethttpomithttp2 -ldflags="-s -w" -o "$dir/posagent" ./cmd/posagent || exit 1
CGO_ENABLED=0 GOARCH=arm GOARM=7 "$go" build -trimpath -ldflags="-s -w" -o "$dir/init" ./cross/build/guest || exit 1
"$go" run ./cross/build/guest "$dir/init" "$dir/posagent" >"$dir/initramfs" || exit 1

timeout 180 qemu-system-arm -M virt,highmem=off -cpu cortex-a7 -m 64 -nographic -no-reboot -nic none \
	-kernel "$kernel" -initrd "$dir/initramfs" -append 'console=ttyAMA0 quiet panic=-1 rootfstype=ramfs cma=0' </dev/null >"$dir/log" 2>&1
tr -d '\r' <"$dir/log" | sed -n 's/^guest: //p'
tr -d '\r' <"$dir/log" | grep -q '^guest: ok' && exit 0
tail -n 20 "$dir/log"
echo "the guest did not end well; $dir/log has all it said"
exit 1
