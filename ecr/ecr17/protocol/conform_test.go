package protocol

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"posagent/ecr/ecr17"
	"posagent/ecr/ecrtest"
	"posagent/ecr/till"
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
					fold := map[ecr17.Scope]byte{ecr17.Stx: 1, ecr17.NoExt: 3, ecr17.StxNoExt: 2}[scope]
					return register{till.NewECR17(conn, till.ECR17Options{Cable: kind == ecrtest.Serial, ID: "0000000" + name, Fold: fold, Wait: 130 * time.Second})}, nil
				},
				Hostile: hostile,
			})
		})
	}
}

// sale is a payment as registers write it.
func sale(id string, amount int64) string {
	return till.ECR17Options{ID: id}.Sale("P", amount)
}

// frame is a message with its check byte.
func frame(fold byte, payload string) string { return till.ECR17Frame(fold, payload) }

// register is a till of package till, which shares no code with the terminal.
type register struct{ *till.ECR17 }

// read reads the result of a payment, of G or of a reversal.
func read(amount money.Minor, said string, err error) (ecrtest.Answer, error) {
	switch {
	case errors.Is(err, till.ErrNAK):
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

func (z register) Pay(_ context.Context, amount money.Minor, _ string) (ecrtest.Answer, error) {
	said, err := z.Ask(z.Sale("P", int64(amount)))
	return read(amount, said, err)
}

func (z register) Again(_ context.Context, amount money.Minor, _ string) (ecrtest.Answer, error) {
	said, err := z.Ask(z.Last())
	a, err := read(amount, said, err)
	if a.Said == ecrtest.Busy {
		a, err = ecrtest.Answer{}, till.ErrNAK
	}
	return a, err
}

func (z register) Abort(context.Context) (bool, error) { return false, errors.New("no abort") }

func (z register) EndOfDay(context.Context) (bool, int, money.Minor, error) {
	said, err := z.Ask(z.DayEnd())
	if err != nil || len(said) != 44 || said[9] != 'C' {
		return false, 0, 0, errors.Join(err, errors.New("no end of day"))
	}
	sum, err := strconv.Atoi(said[12:28])
	if said[10:12] != "00" {
		return false, 0, 0, nil
	}
	return true, -1, money.Minor(sum), err
}
