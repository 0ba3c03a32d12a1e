# Sourced by what boots an emulated ARMv7 board: finds qemu-system-arm and a Debian kernel with its modules, fetched once into
# out/guest. After `kernel` the file is in $kernel, and `give_up WHAT` has been called where something is missing.

guest=out/guest

kernel() {
	command -v apt-get >/dev/null 2>&1 || give_up "a Debian, for its kernel"
	if ! command -v qemu-system-arm >/dev/null 2>&1; then
		[ "$(id -u)" = 0 ] && timeout 120 apt-get install -y --no-install-recommends qemu-system-arm >/dev/null 2>&1
		command -v qemu-system-arm >/dev/null 2>&1 || give_up "qemu-system-arm (install: apt-get install qemu-system-arm)"
	fi
	set -- "$guest"/boot/vmlinuz-*
	[ -e "$1" ] && [ -e "$guest/modules" ] || fetch_kernel
	set -- "$guest"/boot/vmlinuz-*
	kernel=$1
}

# fetch_kernel takes the kernel of another architecture with package lists of its own: the machine's stay as they are. Of its
# modules it keeps those that a board's tests load.
fetch_kernel() {
	mkdir -p "$guest/apt/lists/partial" "$guest/apt/archives/partial"
	: >"$guest/apt/status"
	here=$PWD/$guest/apt
	fetch() {
		timeout 90 apt-get -q -o APT::Architecture=armhf -o APT::Architectures=armhf -o APT::Sandbox::User= -o Dir::State="$here" \
			-o Dir::State::Lists="$here/lists" -o Dir::State::status="$here/status" -o Dir::Cache="$here" "$@" 2>>"$here/log"
	}
	fetch update >>"$here/log" # lists of other vendors may be missing; the next line tells whether Debian's is there
	package=$(timeout 30 apt-cache -o APT::Architecture=armhf -o APT::Architectures=armhf -o Dir::State="$here" -o Dir::State::Lists="$here/lists" \
		-o Dir::State::status="$here/status" -o Dir::Cache="$here" depends linux-image-armmp | sed -n 's/ *Depends: //p' | head -n 1)
	[ -n "$package" ] || give_up "package lists of armhf; $here/log says more"
	(cd "$guest/apt" && fetch download "$package" >>log) || give_up "the package $package; $here/log says more"
	rm -rf "$guest/boot" "$guest/modules" "$guest/unpacked"
	mkdir -p "$guest/unpacked"
	dpkg-deb --fsys-tarfile "$guest"/apt/linux-image-*.deb | tar -x -C "$guest/unpacked" --wildcards './boot/vmlinuz-*' || exit 1
	for module in evdev misc/uinput; do # one that is missing is part of the kernel
		dpkg-deb --fsys-tarfile "$guest"/apt/linux-image-*.deb | tar -x -C "$guest/unpacked" --wildcards "*/drivers/input/$module.ko*" 2>>"$here/log"
	done
	mkdir -p "$guest/modules.new"
	find "$guest/unpacked" -name '*.ko*' -exec cp {} "$guest/modules.new" \;
	mv "$guest/unpacked/boot" "$guest/boot"
	mv "$guest/modules.new" "$guest/modules"
	rm -rf "$guest/apt" "$guest/unpacked"
}
