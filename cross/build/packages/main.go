package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

const usage = `usage:
  packages build [-out bin] [-only armv7,arm64] [-key release.key]   make all packages, lists and the release manifest
  packages sbom BINARY                                               print the list of what is inside, as CycloneDX JSON
  packages about BINARY...                                           write that list and the licences beside each, as the packages have them
  packages verify [-key release.pub] DIRECTORY                       compare a release with its manifest, and that with its signature
A key is a file as openssl makes it: openssl genpkey -algorithm ed25519 -out release.key; openssl pkey -in release.key -pubout -out release.pub
`

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "packages:", err)
		os.Exit(1)
	}
}

// run runs one verb.
func run(args []string, out io.Writer) error {
	if len(args) == 0 {
		return errors.New("which verb?\n" + usage)
	}
	fs := flag.NewFlagSet("packages", flag.ContinueOnError)
	dir, only, key := fs.String("out", "bin", ""), fs.String("only", "", ""), fs.String("key", "", "")
	fs.SetOutput(io.Discard)
	if err := fs.Parse(args[1:]); err != nil {
		return fmt.Errorf("%w\n%s", err, usage)
	}
	switch {
	case args[0] == "build" && fs.NArg() == 0:
		targets, err := chosen(*only)
		if err != nil {
			return err
		}
		o, err := asked(".", *dir, targets)
		if err != nil {
			return err
		}
		o.key, o.log = *key, out
		return build(o)
	case args[0] == "sbom" && fs.NArg() == 1:
		text, err := sbomOf(fs.Arg(0), os.Getenv("VERSION"), epochOr0())
		if err == nil {
			_, err = out.Write(text)
		}
		return err
	case args[0] == "about" && fs.NArg() > 0:
		return about(fs.Args())
	case args[0] == "verify" && fs.NArg() == 1:
		return verify(fs.Arg(0), *key, out)
	}
	return errors.New(usage)
}

// about writes for each binary what its package would tell of it: BINARY.cdx.json and BINARY.copyright. A repository of updates offers
// them with the program.
func about(binaries []string) error {
	o := options{root: ".", version: os.Getenv("VERSION"), epoch: epochOr0()}
	for _, path := range binaries {
		sbom, err := sbomOf(path, o.version, o.epoch)
		if err != nil {
			return err
		}
		licences, err := licencesOf(o, path)
		if err != nil {
			return err
		}
		err = errors.Join(os.WriteFile(path+".cdx.json", sbom, 0o644), os.WriteFile(path+".copyright", licences, 0o644))
		if err != nil {
			return err
		}
	}
	return nil
}

// chosen returns the targets of a list of names; all without one.
func chosen(only string) ([]target, error) {
	all := allTargets()
	if only == "" {
		return all, nil
	}
	var list []target
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(all, func(t target) bool { return t.name == name })
		if i < 0 {
			return nil, fmt.Errorf("%q is no target: cross/cross.sh has them", name)
		}
		list = append(list, all[i])
	}
	return list, nil
}
