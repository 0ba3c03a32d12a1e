package toy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"posagent/ecr/ecrtest"
	"posagent/schemes/money"
)

// TestConformance is all that a new protocol writes to be held to the suite: with ids, and without.
func TestConformance(t *testing.T) {
	hostile := []string{"pay 7 -1250.\n", "pay 7.\n", "pay 7 12", "pay 7 12\n", "pay 7 99999999999.\n", "PAY 7 1250.\n", "ack.\nack.\n", "approved 1250.\n", "till.\n"}
	for name, can := range map[string]ecrtest.Can{
		"with ids":    {Abort: true, EndOfDay: true, IDs: true, Repeats: true},
		"without ids": {Abort: true, EndOfDay: true, Names: true},
	} {
		t.Run(name, func(t *testing.T) {
			ecrtest.Run(t, ecrtest.Fixture{Protocol: Protocol(), Hostile: hostile, Can: can, Connect: connect(can)})
		})
	}
}

// till is a register.
type till struct {
	conn net.Conn
	can  ecrtest.Can
	said chan string
	late chan string // answers to abort
	gone chan struct{}
	once sync.Once
}

var errSilent = errors.New("the terminal does not answer")

func connect(can ecrtest.Can) func(context.Context, ecrtest.Kind, net.Conn, string) (ecrtest.Register, error) {
	return func(_ context.Context, _ ecrtest.Kind, conn net.Conn, name string) (ecrtest.Register, error) {
		z := &till{conn: conn, can: can, said: make(chan string, 8), late: make(chan string, 8), gone: make(chan struct{})}
		go z.read()
		return z, z.say("till " + name)
	}
}

func (z *till) read() {
	defer close(z.gone)
	in := bufio.NewReader(z.conn)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		line, whole := strings.CutSuffix(line, ".\n")
		switch {
		case !whole:
		case line == "late" || line == "stopping":
			z.late <- line
		default:
			z.said <- line
		}
	}
}

// say writes a line. Whatever was lost of the last one ends first.
func (z *till) say(line string) error {
	_, err := z.conn.Write([]byte("\n" + line + ".\n"))
	return err
}

// ask says a line and waits for the answer on a channel.
func (z *till) ask(ctx context.Context, line string, answers <-chan string) (string, error) {
	for len(z.said) > 0 {
		<-z.said // of a question that was given up
	}
	if err := z.say(line); err != nil {
		return "", err
	}
	select {
	case a := <-answers:
		return a, nil
	case <-z.gone:
		return "", errSilent
	case <-time.After(5 * time.Minute):
		return "", errSilent
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func (z *till) outcome(ctx context.Context, line string) (ecrtest.Answer, error) {
	text, err := z.ask(ctx, line, z.said)
	if err != nil {
		return ecrtest.Answer{}, err
	}
	word, amount, _ := strings.Cut(text, " ")
	a := ecrtest.Answer{Said: map[string]ecrtest.Said{
		"approved": ecrtest.Approved, "declined": ecrtest.Declined, "aborted": ecrtest.Aborted, "busy": ecrtest.Busy,
		"refused": ecrtest.Refused, "none": ecrtest.NotFound,
	}[word]}
	switch a.Said {
	case ecrtest.Nothing: // half an answer
		return a, errSilent
	case ecrtest.Approved:
		if _, err := fmt.Sscan(amount, &a.Amount); err != nil {
			return ecrtest.Answer{}, err
		}
	case ecrtest.Declined, ecrtest.Aborted:
	default:
		return a, nil
	}
	return a, z.say("ack")
}

func (z *till) Pay(ctx context.Context, amount money.Minor, id string) (ecrtest.Answer, error) {
	if !z.can.IDs {
		id = "-"
	}
	return z.outcome(ctx, fmt.Sprintf("pay %s %d", id, amount))
}

func (z *till) Again(ctx context.Context, amount money.Minor, id string) (ecrtest.Answer, error) {
	if z.can.Repeats {
		return z.Pay(ctx, amount, id)
	}
	return z.outcome(ctx, "last")
}

func (z *till) Abort(ctx context.Context) (bool, error) {
	text, err := z.ask(ctx, "abort", z.late)
	return text == "stopping", err
}

func (z *till) EndOfDay(ctx context.Context) (bool, int, money.Minor, error) {
	text, err := z.ask(ctx, "close", z.said)
	if err != nil || !strings.HasPrefix(text, "total ") {
		return false, 0, 0, err
	}
	var count int
	var sum money.Minor
	_, err = fmt.Sscanf(text, "total %d %d", &count, &sum)
	return true, count, sum, err
}

func (z *till) Close() error {
	err := errors.New("closed before")
	z.once.Do(func() {
		err = z.conn.Close()
		<-z.gone
	})
	return err
}
