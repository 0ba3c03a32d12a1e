package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cmd/backend"
	"posagent/cmd/usage"
)

// otherSchema is the exit code of a run in a script whose JSON is not what its help says.
const otherSchema = 99

// heldToSchema runs the program for a script. What --json prints has to begin with a document of a schema that the help of the verb names.
func heldToSchema(ctx context.Context, args []string) int {
	own, _, _ := strings.Cut(strings.Join(args, "\x00")+"\x00", "\x00--\x00") // behind it is another program's
	if !strings.Contains("\x00"+own+"\x00", "\x00--json\x00") {
		return execute(ctx, args, std{os.Stdin, os.Stdout, os.Stderr})
	}
	var printed bytes.Buffer
	code := execute(ctx, args, std{os.Stdin, io.MultiWriter(os.Stdout, &printed), os.Stderr})
	if err := schemaOf(exited{args: args}.path(), printed.Bytes()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return otherSchema
	}
	return code
}

// schemaOf says what is wrong with the JSON of a verb. A verb that failed may have printed none.
func schemaOf(path string, printed []byte) error {
	rows := usageOf(commands()).Rows()
	at := slices.IndexFunc(rows, func(r usage.Row) bool { return r.Path == "posagent"+path })
	if at < 0 || len(bytes.TrimSpace(printed)) == 0 {
		return nil
	}
	var first any
	if err := json.NewDecoder(bytes.NewReader(printed)).Decode(&first); err != nil {
		return fmt.Errorf("%s --json printed no JSON: %w: %.200s", path, err, printed)
	}
	schema := backend.BareList
	if v, is := first.(map[string]any); is {
		schema, _ = v["schema"].(string)
	}
	if !slices.Contains(append(rows[at].JSON, "posagent.error/1"), schema) {
		return fmt.Errorf("%s --json printed the schema %q, and its help names %q", path, schema, rows[at].JSON)
	}
	return nil
}

// TestSchemaOf: what a script is held to.
func TestSchemaOf(t *testing.T) {
	require.NoError(t, schemaOf(" status", []byte(`{"schema": "posagent.status/1"}`)))
	require.NoError(t, schemaOf(" status", nil))
	require.NoError(t, schemaOf(" backend books", []byte("[]\n")))
	require.ErrorContains(t, schemaOf(" status", []byte(`{"schema": "posagent.statuses/1"}`)), `"posagent.statuses/1"`)
	require.ErrorContains(t, schemaOf(" status", []byte("[]")), "a list")
	require.ErrorContains(t, schemaOf(" status", []byte(`{"state": 1}`)), `""`)
	require.ErrorContains(t, schemaOf(" run", []byte(`{"schema": "posagent.run/1"}`)), "posagent.run/1")
	require.ErrorContains(t, schemaOf(" status", []byte("READY\n")), "no JSON")
}

// runElsewhere are verbs that no script runs with --json, with the test that does.
var runElsewhere = map[string]string{
	"posagent net check":       "TestEveryExitCode",
	"posagent ops own":         "TestField_P1OpsOwnMovesAThing",
	"posagent serial probe":    "TestEveryExitCode",
	"posagent serial loopback": "TestEveryExitCode",
	"posagent serial monitor":  "TestSerialMonitorShowsMessagesAndMasksCards",
	"posagent upstream check":  "TestEveryExitCode",

	"posagent register certificate": "TestANexoTillPaysOnce",
}

// TestEveryJSONIsRun: each verb that names a schema runs with --json somewhere, where it is held to it.
func TestEveryJSONIsRun(t *testing.T) {
	ran, typed := map[string]bool{}, regexp.MustCompile(`(?m)^[^#\n]*?posagent ([^#\n]*--json.*)$`)
	files, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	require.NoError(t, err)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		text := strings.ReplaceAll(string(data), "\ndecide ", "\nposagent sale ")
		for _, m := range typed.FindAllStringSubmatch(text, -1) {
			ran["posagent"+exited{args: strings.Fields(m[1])}.path()] = true
		}
	}
	tests, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	var all []byte
	for _, file := range tests {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		all = append(all, data...)
	}
	for _, r := range usageOf(commands()).Rows() {
		name, elsewhere := runElsewhere[r.Path]
		switch {
		case len(r.JSON) == 0:
		case elsewhere:
			require.Contains(t, string(all), "\nfunc "+name+"(t *testing.T) {", r.Path)
			require.False(t, ran[r.Path], "a script runs %s --json: take its row out of runElsewhere", r.Path)
		default:
			require.True(t, ran[r.Path], "no script runs %s --json", r.Path)
		}
	}
}
