package main

import (
	"context"
	"io"

	"posagent/ecr/jsonl"
)

func registerSchemaCommand() command {
	return command{
		name: "schema", short: "print the JSON Schema of a jsonl line's messages",
		long:     "It describes every message of a register and of the terminal. It reads nothing and connects to nothing.",
		examples: []string{"posagent register schema > messages.schema.json"},
		run: func(_ context.Context, c *call) error {
			_, err := io.WriteString(c.out, jsonl.Schema)
			return err
		},
	}
}
