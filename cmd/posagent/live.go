package main

import (
	"encoding/json"
	"os"
	"path/filepath"

	"posagent/agent/view"
)

// liveName is the live report's file in the state directory.
const liveName = "live.json"

// writeLive replaces the report. It is not synced: after a power cut the next start writes its own.
func writeLive(path string, v view.Live) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// readLive reads the report of a running daemon; the zero value where there is none.
func readLive(dir string) (v view.Live) {
	data, err := os.ReadFile(filepath.Join(dir, liveName))
	if err == nil {
		_ = json.Unmarshal(data, &v) // a report that cannot be read says nothing
	}
	return v
}
