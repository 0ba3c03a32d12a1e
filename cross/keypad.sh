#!/bin/sh
# Boots an emulated ARMv7 board whose kernel makes input devices (uinput), and runs the keypad's tests on it: presses, grabs,
# pulled pads and queues that run over, by the kernel itself and in its layout for 32 bits. Five minutes at most.
set -u
go=${GO:-go}
dir=out/keypad

give_up() {
	echo "not run: the keypad on a real kernel needs $1"
	[ "${REQUIRE_ALL:-}" = 1 ] && exit 1
	exit 0
}

. cross/kernel.sh
kernel
command -v xz >/dev/null 2>&1 || give_up "xz (install: apt-get install xz-utils)"
mkdir -p "$dir"
rm -f "$dir"/*.ko
for module in "$guest"/modules/*.ko*; do
	[ -e "$module" ] || continue # it is part of the kernel
	name=$(basename "$module")
	case $name in
	*.xz) xz -dc "$module" >"$dir/${name%.xz}" || exit 1 ;;
	*) cp "$module" "$dir/$name" ;;
	esac
done

CGO_ENABLED=0 GOARCH=arm GOARM=7 "$go" test -c -trimpath -ldflags="-s -w" -o "$dir/init" ./device/keypad || exit 1
"$go" run ./cross/build/guest "$dir/init" "$dir"/*.ko >"$dir/initramfs" || exit 1

timeout 300 qemu-system-arm -M virt,highmem=off -cpu cortex-a7 -m 128 -nographic -no-reboot -nic none \
	-kernel "$kernel" -initrd "$dir/initramfs" \
	-append 'console=ttyAMA0 quiet panic=-1 rootfstype=ramfs cma=0 BOARD=1 -- -test.v -test.run=TestARealKernel|TestTheLayoutIsThisProcesss|TestBothLayouts' \
	</dev/null >"$dir/log" 2>&1
tr -d '\r' <"$dir/log" | grep -a -E '^ *(=== RUN|--- |PASS|FAIL|keypad_|uinput_|.*_test.go)|^board:'
tr -d '\r' <"$dir/log" | grep -a -q '^board: end 0$' && tr -d '\r' <"$dir/log" | grep -a -q '^--- PASS: TestARealKernel' && exit 0
tail -n 20 "$dir/log"
echo "the board did not end well; $dir/log has all it said"
exit 1
