package protocol

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"posagent/ecr/caisseap"
	"posagent/ecr/ecrtest"
	"posagent/schemes/money"
)

// TestConformance holds Caisse-AP to the suite, with a register that reads once, as the ones of
// Odoo do.
func TestConformance(t *testing.T) {
	ecrtest.Run(t, ecrtest.Fixture{
		Protocol: New(Options{caisseap.Config{Currency: "EUR"}}),
		Can:      ecrtest.Can{Names: true, Mute: true, Once: true},
		Connect: func(_ context.Context, _ ecrtest.Kind, conn net.Conn, name string) (ecrtest.Register, error) {
			return &till{conn: conn, name: "0" + name}, nil
		},
		Hostile: []string{
			"CZ0040300", "CZ00403", "C", "CONNECT terminal:443 HTTP/1.1\r\n\r\n", "CZ9990300", "CZ0000", "CZ0040300CJ0120123456789", "\x02CZ0040300\x03\x10",
			sale("01", "1250") + "CB0041250", sale("01", "0"), sale("01", "-250"), sale("01", "9999999999999"), strings.Replace(sale("01", "1250"), "CD0010", "CD0012", 1),
			strings.Replace(sale("01", "1250"), "CE003978", "CE003840", 1), sale("01", "1250") + "CC00300C", sale("01", "1250") + "BA0011", sale("01", "1250")[9:],
			"\x06\x01\x07\x04\x00\x00\x00\x00\x12\x50", "\x0212345678" + "0s\x034", sale("01", "1250") + "BI256" + strings.Repeat("a", 200), sale("01", "1250") + strings.Repeat("ZZ001a", 400),
		},
	})
}

// sale is a debit as registers write it.
func sale(ca, cb string) string {
	return fmt.Sprintf("CZ0040300CJ012012345678901CA%03d%sCE003978BF0010CD0010CB%03d%s", len(ca), ca, len(cb), cb)
}

// till is a register that shares nothing with the terminal: it writes a string, reads once, closes,
// and cuts the answer by size. It believes an answer whose echoes are its own.
type till struct {
	conn net.Conn
	name string
}

var errIssue = errors.New("issue: look at the terminal")

var answerField = regexp.MustCompile(`^([A-Z]{2})(\d{3})`)

func (z *till) Pay(ctx context.Context, amount money.Minor, _ string) (ecrtest.Answer, error) {
	defer func() { _ = z.conn.Close() }()
	cb := strconv.Itoa(int(amount))
	if _, err := z.conn.Write([]byte(sale(z.name, cb))); err != nil {
		return ecrtest.Answer{}, err
	}
	if err := z.conn.SetReadDeadline(time.Now().Add(180 * time.Second)); err != nil {
		return ecrtest.Answer{}, err
	}
	buf := make([]byte, 1024)
	n, err := z.conn.Read(buf)
	if n == 0 {
		return ecrtest.Answer{}, err
	}
	got := map[string]string{}
	for rest := string(buf[:n]); rest != ""; {
		head := answerField.FindStringSubmatch(rest)
		if head == nil {
			return ecrtest.Answer{}, errIssue
		}
		size, _ := strconv.Atoi(head[2])
		if len(rest) < 5+size {
			return ecrtest.Answer{}, errIssue
		}
		got[head[1]], rest = rest[5:5+size], rest[5+size:]
	}
	for tag, want := range map[string]string{"CA": z.name, "CB": cb, "CD": "0", "CE": "978"} {
		if got[tag] != want {
			return ecrtest.Answer{}, errIssue
		}
	}
	switch got["AE"] + got["AF"] {
	case "10":
		return ecrtest.Answer{Said: ecrtest.Approved, Amount: amount}, nil
	case "0104":
		return ecrtest.Answer{Said: ecrtest.Declined}, nil
	case "0106", "0108":
		return ecrtest.Answer{Said: ecrtest.Aborted}, nil
	case "0111":
		return ecrtest.Answer{Said: ecrtest.Busy}, nil
	case "0110":
		return ecrtest.Answer{Said: ecrtest.Refused}, nil
	}
	return ecrtest.Answer{}, errIssue
}

func (z *till) Again(context.Context, money.Minor, string) (ecrtest.Answer, error) {
	return ecrtest.Answer{}, errors.New("the protocol has no question")
}

func (z *till) Abort(context.Context) (bool, error) { return false, errors.New("no abort") }

func (z *till) EndOfDay(context.Context) (bool, int, money.Minor, error) {
	return false, 0, 0, errors.New("no end of day")
}

func (z *till) Close() error { return z.conn.Close() }
