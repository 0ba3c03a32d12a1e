package session

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
	"posagent/ecr/ecrtest/desk"
)

// board is a panel whose person answers through a channel.
type board struct {
	answer chan ecr.Pressed
	ended  chan error

	mu     sync.Mutex
	showed []ecr.Notice
	paper  []ecr.PrintLine
	refuse ecr.Code
}

func (b *board) Notify(ctx context.Context, n ecr.Notice) (ecr.Pressed, error) {
	b.mu.Lock()
	b.showed = append(b.showed, n)
	refuse := b.refuse
	b.mu.Unlock()
	if refuse != "" {
		return ecr.Pressed{}, &ecr.Refusal{Code: refuse}
	}
	if n.Wants == ecr.WantsNothing {
		return ecr.Pressed{}, nil
	}
	select {
	case p := <-b.answer:
		return p, nil
	case <-ctx.Done():
		b.ended <- ctx.Err()
		return ecr.Pressed{}, ctx.Err()
	}
}

func (b *board) Print(_ context.Context, lines []ecr.PrintLine) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.paper = append(b.paper, lines...)
	return nil
}

// TestARegisterHasTheTerminalsScreenKeysAndPrinter: over a line, with what ends a question.
func TestARegisterHasTheTerminalsScreenKeysAndPrinter(t *testing.T) {
	b := &board{answer: make(chan ecr.Pressed, 1), ended: make(chan error, 1)}
	address, _ := serveTCP(t, desk.New(), func(s *setup) { s.Panel, s.zvt.Prints = b, true })
	a := dial(t, address)
	a.asks("06 E0 08 F0 05 F1 F0 F3 41 42 43", "80 00 00")
	b.answer <- ecr.Pressed{Key: ecr.KeyCorrect}
	a.asks("06 E1 08 F0 14 F1 F0 F3 41 42 43", "80 00 01 18")
	b.answer <- ecr.Pressed{Key: ecr.KeyConfirm, Digits: "0042"}
	a.asks("06 E2 08 F0 14 F1 F0 F3 41 42 43", "80 00 04 30 30 34 32")
	a.asks("06 D1 04 40 41 42 43", "80 00 00")
	a.asks("06 D1 01 81", "80 00 00")
	b.mu.Lock()
	require.Equal(t, []ecr.PrintLine{{Text: "ABC", Centre: true}}, b.paper)
	require.Len(t, b.showed, 3)
	b.mu.Unlock()

	const question = "06 E1 08 F0 14 F1 F0 F3 41 42 43"
	a.send(question)
	a.asks("06 B0 00", "80 00 01 6C", "80 00 00")
	require.ErrorIs(t, <-b.ended, context.Canceled, "the register ends it")

	a.send(question) // another connection of the register sells meanwhile
	other := dial(t, address)
	other.register(noPrint)
	other.asks(pay, "80 00 00")
	other.expectApproval()
	other.send("80 00 00")
	other.expect("06 0F")
	other.send("80 00 00")
	b.answer <- ecr.Pressed{Key: ecr.KeyConfirm}
	a.expect("80 00 01 0D")

	a.send(question) // and the line does not wait for an answer that nobody can give
	_ = a.conn.Close()
	require.ErrorIs(t, <-b.ended, context.Canceled, "its connection is gone")

	b.mu.Lock()
	b.refuse = ecr.Busy
	b.mu.Unlock()
	other.asks(question, "84 A0 00")
	other.asks("06 E0 00", "84 A0 00")
}

// TestATerminalWithoutScreenAndPrinter says so.
func TestATerminalWithoutScreenAndPrinter(t *testing.T) {
	address, _ := serveTCP(t, desk.New(), nil)
	a := dial(t, address)
	a.asks("06 E0 08 F0 05 F1 F0 F3 41 42 43", "84 83 00")
	a.asks("06 E1 08 F0 14 F1 F0 F3 41 42 43", "84 83 00")
	a.asks("06 E2 08 F0 14 F1 F0 F3 41 42 43", "84 83 00")
	a.asks("06 D1 04 81 41 42 43", "84 CC 00")
}
