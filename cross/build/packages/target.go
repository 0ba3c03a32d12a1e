package main

// target is a machine that packages are made for. The list is that of cross.sh.
type target struct {
	name   string // as in the names of files
	goarch string
	goarm  string
	debian string // Architecture of the deb
}

func allTargets() []target {
	return []target{
		{"armv5", "arm", "5", "armel"},
		{"armv6", "arm", "6", "armhf"},
		{"armv7", "arm", "7", "armhf"},
		{"arm64", "arm64", "", "arm64"},
		{"amd64", "amd64", "", "amd64"},
		{"386", "386", "", "i386"},
	}
}

// server reports whether posagent-backend is packed for the machine, too: servers are of these kinds.
func (t target) server() bool { return t.name == "arm64" || t.name == "amd64" }
