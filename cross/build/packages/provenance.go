package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// provenance writes how the named files were built, as an in-toto statement with a SLSA 1 predicate. It is what the build says of
// itself: the signature of the manifest covers it, and no build service vouches for it.
func provenance(o options, names []string) error {
	type digest map[string]string
	type resource struct {
		URI    string `json:"uri"`
		Digest digest `json:"digest,omitempty"`
	}
	type subject struct {
		Name   string `json:"name"`
		Digest digest `json:"digest"`
	}
	source, count, err := sourceOf(o.root)
	if err != nil {
		return err
	}
	version, err := command(o.root, nil, goTool(), "env", "GOVERSION")
	if err != nil {
		return err
	}
	var subjects []subject
	for _, name := range names {
		f, err := look(o.out, name)
		if err != nil {
			return err
		}
		subjects = append(subjects, subject{name, digest{"sha256": f.SHA256}})
	}
	environments := map[string][]string{}
	for _, t := range o.targets {
		environments[t.name] = t.environment()
	}
	needs := []resource{
		{fmt.Sprintf("source: %d files", count), digest{"sha256": source}},
		{"pkg:golang/toolchain@" + strings.TrimPrefix(strings.TrimSpace(version), "go"), nil},
		{"pkg:golang/" + nfpm, nil},
	}
	if o.commit != "" {
		needs = append(needs, resource{"git", digest{"gitCommit": o.commit}})
	}
	text, err := json.MarshalIndent(map[string]any{
		"_type": "https://in-toto.io/Statement/v1", "subject": subjects, "predicateType": "https://slsa.dev/provenance/v1",
		"predicate": map[string]any{
			"buildDefinition": map[string]any{
				"buildType": "posagent.packages/1",
				"externalParameters": map[string]any{
					"version": o.version, "packageVersion": o.version, "sourceDateEpoch": o.epoch, "command": "make packages",
				},
				"internalParameters":   map[string]any{"goFlags": flags(o.version), "environments": environments},
				"resolvedDependencies": needs,
			},
			"runDetails": map[string]any{
				"builder":  map[string]any{"id": "posagent/cross/build/packages"},
				"metadata": map[string]any{"sourceTime": time.Unix(o.epoch, 0).UTC()},
			},
		},
	}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(o.out, "provenance.json"), append(text, '\n'), 0o644)
}

// sourceOf returns the SHA-256 over a line "SHA256  NAME" of every file of a tree, in the order of their names, and their number. It
// leaves out what git and the build make. In a checkout, this is the same:
//
//	find . -path ./.git -prune -o -path ./bin -prune -o -path ./out -prune -o -type f -printf '%P\0' | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum
func sourceOf(root string) (sum string, count int, err error) {
	all := sha256.New()
	var names []string
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == ".git" || name == "bin" || name == "out"):
			return fs.SkipDir
		case d.Type().IsRegular() && name != ".git": // a file in a linked worktree
			names = append(names, filepath.ToSlash(name))
		}
		return nil
	})
	if err != nil {
		return "", 0, err
	}
	slices.Sort(names)
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return "", 0, err
		}
		fmt.Fprintf(all, "%x  %s\n", sha256.Sum256(data), name)
	}
	return fmt.Sprintf("%x", all.Sum(nil)), len(names), nil
}
