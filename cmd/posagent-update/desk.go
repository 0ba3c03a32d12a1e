package main

import (
	"context"
	"crypto/ed25519"
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// desk are the flags of the verbs that make a repository.
type desk struct {
	repository            string
	rootKeys, targetsKeys []string
	onlineKey             string
	version               string
	percent               int
}

func (d *desk) flags(fs *flag.FlagSet) {
	several := func(list *[]string) func(string) error {
		return func(s string) error { *list = append(*list, s); return nil }
	}
	fs.StringVar(&d.repository, "repository", "repository", "its folder")
	fs.Func("root-key", "file of a key of the root, for init; give two, which two people keep: both have to sign", several(&d.rootKeys))
	fs.Func("targets-key", "file of a key of the programs, for init and add; give two, which two people keep: both have to sign", several(&d.targetsKeys))
	fs.StringVar(&d.onlineKey, "online-key", "", "file of the key that says which state is the newest; it may lie on the server")
	fs.StringVar(&d.version, "version", "", "version of the programs, for add: what they say of themselves")
	fs.IntVar(&d.percent, "percent", 100, "how many boxes of a hundred are to have them, for add")
}

// keys reads those that were given.
func (d *desk) keys() (k keys, err error) {
	read := func(paths []string) (list []ed25519.PrivateKey, err error) {
		for _, path := range paths {
			key, err := readKey(path)
			if err != nil {
				return nil, err
			}
			list = append(list, key)
		}
		return list, nil
	}
	if k.root, err = read(d.rootKeys); err != nil {
		return k, err
	}
	if k.targets, err = read(d.targetsKeys); err != nil {
		return k, err
	}
	if d.onlineKey == "" {
		return k, fmt.Errorf("%w: --online-key is missing", errUsage)
	}
	k.online, err = readKey(d.onlineKey)
	return k, err
}

// state is what a repository came to (repositorySchema).
type state struct {
	Schema    string    `json:"schema"`
	Folder    string    `json:"folder"`
	Timestamp int64     `json:"timestamp"` // its number
	Good      time.Time `json:"good"`      // until when boxes believe it
}

func (c *call) done(r *repository, what string) error {
	good, _ := r.good()
	return c.print(state{repositorySchema, r.dir, r.timestamp.Signed.Version, good},
		what+"; boxes believe it until "+good.Format(time.DateTime)+": before, posagent-update repository refresh --online-key KEY")
}

func repositoryInit(_ context.Context, c *call) error {
	k, err := c.desk.keys()
	if err != nil {
		return err
	}
	if len(k.root) == 0 || len(k.targets) == 0 {
		return fmt.Errorf("%w: --root-key and --targets-key are missing (two of each; openssl genpkey -algorithm ed25519 makes one)", errUsage)
	}
	r, err := newRepository(c.repository, time.Now(), k)
	if err != nil {
		return err
	}
	return c.done(r, "made; "+filepath.Join(c.repository, "1.root.json")+" is the root.json of every box")
}

func repositoryAdd(_ context.Context, c *call) error {
	k, err := c.desk.keys()
	if err != nil {
		return err
	}
	if c.version == "" || len(c.args) == 0 || c.percent < 0 || c.percent > 100 {
		return fmt.Errorf("%w: posagent-update repository add --version 1.2.3 [--percent 10] --targets-key KEY --targets-key KEY --online-key KEY FILE…, as bin/posagent-armv7", errUsage)
	}
	r, err := openRepository(c.repository, time.Now())
	if err != nil {
		return err
	}
	if want := r.root.Signed.Roles["targets"].Threshold; len(k.targets) < want {
		return fmt.Errorf("%w: programs are signed with %d keys, and %d are given", errUsage, want, len(k.targets))
	}
	if err := signAll(r.targets, k.targets...); err != nil { // before a program is put there
		return err
	}
	if err := r.believed("targets", r.targets); err != nil {
		return err
	}
	for _, file := range c.args {
		name := filepath.Base(file)
		if !fileThere(file) {
			file = "" // its share changes
		}
		if err := r.offer(name, file, c.version, c.percent); err != nil {
			return err
		}
		missing, err := r.offerAbout(name, file, c.version, c.percent)
		if err != nil {
			return err
		}
		if len(missing) > 0 {
			fmt.Fprintf(c.talk, "%s is offered without %s: go run ./cross/build/packages about %s writes what is inside it and the licences of that, then add it again\n", name, strings.Join(missing, " and "), file)
		}
	}
	if err := r.sign(k, true); err != nil {
		return err
	}
	return c.done(r, fmt.Sprintf("%d program(s) of version %s are offered to %d %% of the boxes", len(c.args), c.version, c.percent))
}

func repositoryRefresh(_ context.Context, c *call) error {
	k, err := c.desk.keys()
	if err != nil {
		return err
	}
	r, err := openRepository(c.repository, time.Now())
	if err != nil {
		return err
	}
	if err := r.sign(k, false); err != nil {
		return err
	}
	return c.done(r, "signed anew")
}
