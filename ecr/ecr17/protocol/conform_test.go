package protocol

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"posagent/ecr/ecr17"
	"posagent/ecr/ecrtest"
	"posagent/schemes/money"
)

// TestConformance holds ECR17 to the suite in each scope of the check byte, with a register that
// behaves as the two public libraries do: it sends four times, waits long, and takes whatever lies in
// its socket for the answer.
func TestConformance(t *testing.T) {
	const pay = "1234567800P"
	hostile := []string{
		"\x02", "\x02\x03", "\x02\x03\x7c", "\x06", "\x06\x03", "\x06\x03\x79\x06\x03\x79", "\x15\x03\x6a", "\x01ELABORAZIONE...     \x04",
		frame(0, sale("00000001", 1250))[:169], frame(0, sale("00000001", 1250))[:100], frame(0, sale("00000001", 1250)[:166]),
		frame(0, strings.Replace(sale("00000001", 1250), "00001250", "0000125A", 1)), frame(0, sale("00000001", 0)), frame(0, sale("0000\x000001", 1250)),
		frame(0x55, sale("00000001", 1250)), frame(0, "123456780J00000001"), frame(0, "12345678"), frame(0, pay), frame(0, "1234567A0s"),
		frame(0, "12345678"+"0p"+sale("00000001", 1250)[10:]), "\x02" + strings.Repeat("P", 70000), "CZ0040300CJ012012345678901CA00201",
		frame(0, sale("00000001", 1250)[:18]+"1"+sale("00000001", 1250)[19:]),
	}
	for scope := ecr17.Std; scope <= ecr17.StxNoExt; scope++ {
		t.Run(scope.String(), func(t *testing.T) {
			ecrtest.Run(t, ecrtest.Fixture{
				// The suite lets a sale run for longer than a register of a cut cable waits.
				Protocol: New(Options{Config: ecr17.Config{Currency: "EUR", MerchantName: "Bottega", Patience: 4 * time.Minute}, Scope: scope}),
				Can:      ecrtest.Can{Names: true, EndOfDay: true, Fades: 3 * time.Minute},
				Connect: func(_ context.Context, kind ecrtest.Kind, conn net.Conn, name string) (ecrtest.Register, error) {
					return &till{conn: conn, cable: kind == ecrtest.Serial, id: "0000000" + name, fold: map[ecr17.Scope]byte{ecr17.Stx: 1, ecr17.NoExt: 3, ecr17.StxNoExt: 2}[scope]}, nil
				},
				Hostile: hostile,
			})
		})
	}
}

// sale is a payment as registers write it.
func sale(id string, amount int64) string {
	return "12345678" + "0P" + id + "0" + "0000" + fmt.Sprintf("%08d", amount) + strings.Repeat(" ", 128) + "00000000"
}

// frame is a message with its check byte; fold is what the scope adds to that of the payload.
func frame(fold byte, payload string) string {
	lrc := 0x7F ^ fold
	for i := range len(payload) {
		lrc ^= payload[i]
	}
	return "\x02" + payload + "\x03" + string([]byte{lrc})
}

// till is a register that shares nothing with the terminal.
type till struct {
	conn  net.Conn
	cable bool
	id    string
	fold  byte
	in    []byte // has come and is not read yet
}

var (
	errNaks   = errors.New("four NAKs")
	errSilent = errors.New("no ACK")
)

// more waits for bytes.
func (z *till) more(until time.Time) error {
	if err := z.conn.SetReadDeadline(until); err != nil {
		return err
	}
	buf := make([]byte, 256)
	n, err := z.conn.Read(buf)
	z.in = append(z.in, buf[:n]...)
	return err
}

// packet is the next thing that the terminal says: "ack", "nak", or a message. Progress is skipped.
func (z *till) packet(until time.Time) (string, error) {
	for {
		if len(z.in) > 0 {
			switch z.in[0] {
			case 6, 0x15:
				if len(z.in) >= 3 {
					word := map[byte]string{6: "ack", 0x15: "nak"}[z.in[0]]
					z.in = z.in[3:]
					return word, nil
				}
			case 1:
				if len(z.in) >= 22 {
					z.in = z.in[22:]
					continue
				}
			case 2:
				if i := strings.IndexByte(string(z.in), 3); i > 0 && len(z.in) > i+1 {
					payload, lrc := string(z.in[1:i]), z.in[i+1]
					z.in = z.in[i+2:]
					if frame(z.fold, payload)[len(payload)+2] != lrc {
						return "", errors.New("wrong check byte")
					}
					return payload, nil
				}
			default:
				z.in = z.in[1:]
				continue
			}
		}
		if err := z.more(until); err != nil {
			return "", err
		}
	}
}

func (z *till) write(text string) error {
	if err := z.conn.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
		return err
	}
	_, err := io.WriteString(z.conn, text)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil // the cable is out
	}
	return err
}

// ask sends a request and returns its result. A message that comes before the ACK is the result, as
// the libraries have it.
func (z *till) ask(payload string) (string, error) {
	if z.cable { // what lies in its buffer is from before the cable was put in
		for z.more(time.Now().Add(100*time.Millisecond)) == nil {
		}
		z.in = nil
	}
	naks := 0
	for range 4 {
		if err := z.write(frame(z.fold, payload)); err != nil {
			return "", err
		}
		said, err := z.packet(time.Now().Add(2 * time.Second))
		switch {
		case err == nil && said == "nak":
			naks++
			<-time.After(200 * time.Millisecond)
			continue
		case errors.Is(err, os.ErrDeadlineExceeded):
			<-time.After(200 * time.Millisecond)
			continue
		case err != nil:
			return "", err
		}
		for until := time.Now().Add(130 * time.Second); said == "ack" || said == "nak"; {
			if payload[9] == 'E' {
				return "", nil
			}
			if said, err = z.packet(until); err != nil {
				return "", err
			}
		}
		_ = z.write(string([]byte{6, 3, 0x7F ^ 6 ^ z.fold}))
		return said, nil
	}
	if naks == 4 {
		return "", errNaks
	}
	return "", errSilent
}

// read reads the result of a payment, of G or of a reversal.
func read(amount money.Minor, said string, err error) (ecrtest.Answer, error) {
	switch {
	case errors.Is(err, errNaks):
		return ecrtest.Answer{Said: ecrtest.Busy}, nil
	case err != nil:
		return ecrtest.Answer{}, err
	case len(said) < 71 || said[9] != 'E':
		return ecrtest.Answer{}, fmt.Errorf("not a result: %q", said)
	}
	if said[10:12] == "00" {
		return ecrtest.Answer{Said: ecrtest.Approved, Amount: amount}, nil
	}
	words := map[string]ecrtest.Said{
		"RIFIUTATO": ecrtest.Declined, "ANNULLATO": ecrtest.Aborted, "TEMPO SCADUTO": ecrtest.Aborted, "NESSUN METODO": ecrtest.Refused,
		"NESSUNA OPERAZIONE": ecrtest.NotFound, "NESSUN ESITO RECENTE": ecrtest.NotFound,
	}
	reason := strings.TrimRight(said[12:36], " ")
	if s, ok := words[reason]; ok {
		return ecrtest.Answer{Said: s}, nil
	}
	return ecrtest.Answer{}, errors.New(reason)
}

func (z *till) Pay(_ context.Context, amount money.Minor, _ string) (ecrtest.Answer, error) {
	said, err := z.ask(sale(z.id, int64(amount)))
	return read(amount, said, err)
}

func (z *till) Again(_ context.Context, amount money.Minor, _ string) (ecrtest.Answer, error) {
	said, err := z.ask("12345678" + "0G" + z.id + "0" + "000")
	a, err := read(amount, said, err)
	if a.Said == ecrtest.Busy {
		a, err = ecrtest.Answer{}, errNaks
	}
	return a, err
}

func (z *till) Abort(context.Context) (bool, error) { return false, errors.New("no abort") }

func (z *till) EndOfDay(context.Context) (bool, int, money.Minor, error) {
	said, err := z.ask("12345678" + "0C" + z.id + "0" + "0000000")
	if err != nil || len(said) != 44 || said[9] != 'C' {
		return false, 0, 0, errors.Join(err, errors.New("no end of day"))
	}
	sum, err := strconv.Atoi(said[12:28])
	if said[10:12] != "00" {
		return false, 0, 0, nil
	}
	return true, -1, money.Minor(sum), err
}

func (z *till) Close() error { return z.conn.Close() }
