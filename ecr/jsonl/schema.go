package jsonl

import _ "embed"

// Schema is the JSON Schema of every message, of the register's and of the terminal's.
//
//go:embed schema.json
var Schema string
