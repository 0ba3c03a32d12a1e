package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/theupdateframework/go-tuf/v2/metadata"
)

// TestField2_G7NoRepositoryThatOneKeyIsEnoughForOrNoBoxBelieves: the verbs that sign refuse, with the reason, what boxes would not believe
// and what one stolen key would be enough for, and leave the folder as it was. The kind: too few keys of a role, one key twice in a
// role (its signatures never suffice) or in two, another repository's keys at add and refresh, a folder that has a repository whose
// newest state is gone, and a part that has ended.
func TestField2_G7NoRepositoryThatOneKeyIsEnoughForOrNoBoxBelieves(t *testing.T) {
	p := newPlace(t)
	r1, r2, t1, t2, on := keyFile(t), keyFile(t), keyFile(t), keyFile(t), keyFile(t)
	dir := p.at("repository")
	flags := func(pairs ...string) []string { return append([]string{"--repository", dir}, pairs...) }
	for name, tc := range map[string]struct {
		says string
		args []string
	}{
		"one key of the root":          {"--root-key was given 1 time", flags("--root-key", r1, "--targets-key", t1, "--targets-key", t2, "--online-key", on)},
		"one key of the programs":      {"--targets-key was given 1 time", flags("--root-key", r1, "--root-key", r2, "--targets-key", t1, "--online-key", on)},
		"one key of the root twice":    {"one key was given as --root-key and as --root-key", flags("--root-key", r1, "--root-key", r1, "--targets-key", t1, "--targets-key", t2, "--online-key", on)},
		"one key of programs twice":    {"one key was given as --targets-key and as --targets-key", flags("--root-key", r1, "--root-key", r2, "--targets-key", t1, "--targets-key", t1, "--online-key", on)},
		"the root's for the programs":  {"one key was given as --root-key and as --targets-key", flags("--root-key", r1, "--root-key", r2, "--targets-key", r1, "--targets-key", t2, "--online-key", on)},
		"the programs' for the server": {"one key was given as --targets-key and as --online-key", flags("--root-key", r1, "--root-key", r2, "--targets-key", t1, "--targets-key", t2, "--online-key", t2)},
	} {
		t.Run(name, func(t *testing.T) {
			refused(t, tc.says, append([]string{"repository", "init"}, tc.args...)...)
			require.NoDirExists(t, dir)
		})
	}
	good := flags("--targets-key", t1, "--targets-key", t2, "--online-key", on)
	init := append([]string{"repository", "init", "--root-key", r1, "--root-key", r2}, good...)
	code, _, talk := ask(init...)
	require.Zero(t, code, talk)
	files := func() (list []string) {
		t.Helper()
		for _, pattern := range []string{"*", "targets/*"} {
			some, err := filepath.Glob(filepath.Join(dir, pattern))
			require.NoError(t, err)
			list = append(list, some...)
		}
		return list
	}
	before := files()
	p.write("posagent-test", "a program")
	for name, args := range map[string][]string{
		"add with another's keys of programs":   flags("--targets-key", r1, "--targets-key", r2, "--online-key", on),
		"add with one key twice":                flags("--targets-key", t1, "--targets-key", t1, "--online-key", on),
		"refresh with another's key of servers": flags("--online-key", r1),
	} {
		t.Run(name, func(t *testing.T) {
			if name[:3] == "add" {
				args = append([]string{"repository", "add", "--version", "1.0.0", p.at("posagent-test")}, args...)
			} else {
				args = append([]string{"repository", "refresh"}, args...)
			}
			refused(t, "no box would believe", args...)
			require.Equal(t, before, files())
		})
	}
	newest := filepath.Join(dir, "timestamp.json")
	require.NoError(t, os.Rename(newest, newest+".lost"))
	refused(t, "it is a repository already", init...)
	require.NoError(t, os.Rename(newest+".lost", newest))

	k := keys{}
	var err error
	k.online, err = readKey(on)
	require.NoError(t, err)
	r, err := openRepository(dir, time.Now().Add(targetsFor+time.Hour))
	require.NoError(t, err)
	require.ErrorContains(t, r.sign(k, false), "the list of programs ended at ")
	require.Equal(t, before, files())
	r, err = openRepository(dir, time.Now().Add(targetsFor-time.Hour))
	require.NoError(t, err)
	require.NoError(t, r.sign(k, false))
	until, part := r.good()
	require.Equal(t, "the list of programs", part, "refresh says no later time than boxes believe it")
	require.Equal(t, r.targets.Signed.Expires.UTC(), until)
	require.True(t, until.Before(r.timestamp.Signed.Expires))
}

// refused wants the exit code of a refusal, and its reason.
func refused(t *testing.T, says string, args ...string) {
	t.Helper()
	code, out, talk := ask(args...)
	require.Equal(t, 6, code, talk)
	require.Contains(t, talk, says)
	require.Contains(t, talk, "nothing was changed")
	require.Empty(t, out)
}

// TestField2_G7AProgramIsOfferedWithItsLicences: what make cross writes beside a program is signed with it, goes when the program is another
// one, and what is missing is said.
func TestField2_G7AProgramIsOfferedWithItsLicences(t *testing.T) {
	p := newPlace(t)
	dir, keys := p.repository("1.0.0")
	offered := func() map[string]string {
		t.Helper()
		list, err := filepath.Glob(filepath.Join(dir, "*.targets.json"))
		require.NoError(t, err)
		m, err := metadata.Targets().FromFile(list[len(list)-1])
		require.NoError(t, err)
		got := map[string]string{}
		for name, info := range m.Signed.Targets {
			text, err := os.ReadFile(filepath.Join(dir, "targets", info.Hashes["sha256"].String()+"."+name))
			require.NoError(t, err)
			var custom struct{ Version string }
			require.NoError(t, json.Unmarshal(*info.Custom, &custom))
			got[name] = custom.Version + " " + string(text)
		}
		return got
	}
	add := func(version, name string) string {
		t.Helper()
		code, _, talk := ask(append([]string{"repository", "add", p.at(name), "--version", version}, keys...)...)
		require.Zero(t, code, talk)
		return talk
	}
	require.Equal(t, map[string]string{"posagent-test": "1.0.0 the program 1.0.0"}, offered())
	p.write("posagent-test", "another")
	p.write("posagent-test.cdx.json", "{}")
	p.write("posagent-test.copyright", "a licence")
	require.Empty(t, add("2.0.0", "posagent-test"))
	all := map[string]string{"posagent-test": "2.0.0 another", "posagent-test.cdx.json": "2.0.0 {}", "posagent-test.copyright": "2.0.0 a licence"}
	require.Equal(t, all, offered())
	for name := range all {
		require.NoError(t, os.Remove(p.at(name)))
	}
	require.Empty(t, add("2.0.0", "posagent-test"), "its part of the boxes changes")
	require.Equal(t, all, offered())
	p.write("posagent-test", "a third")
	require.Contains(t, add("3.0.0", "posagent-test"), "posagent-test is offered without posagent-test.cdx.json and posagent-test.copyright")
	require.Equal(t, map[string]string{"posagent-test": "3.0.0 a third"}, offered(), "the list of another program is not this one's")
}
