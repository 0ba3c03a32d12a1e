package methods

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/cross/customer"
	"posagent/cross/need"
	"posagent/cross/program"
	"posagent/ecr/ecrtest/lines"
	"posagent/ecr/till/zvt"
	"posagent/ecr/zvt/apdu"
	"posagent/ecr/zvt/frame"
)

// patience is how long one step may take; the emulator and its neighbours share the machine.
func patience() time.Duration { return 2 * need.Limit() }

// configuration wants the pseudo terminal, and the file that the terminal's printer is.
const configuration = `[terminal]
language = "en"
currency = "EUR"
[port]
listen = "127.0.0.1:0"
[[ecr]]
name = "serial"
serial = %q
[[ecr]]
name = "network"
tcp = "127.0.0.1:0"
[checkout]
choose = "screen"
[methods]
poll = "50ms"
[display]
console = false
page = true
[keypad]
page = true
[printer]
device = %q
profile = "80mm"
[backend]
listen = "127.0.0.1:0"
wallet_delay = "50ms"
`

// sold is how a method is sold here. Its two payments may be begun in two ways.
type sold struct {
	name    string
	choose  [2]string // what the customer picks; "" = the register names the method
	card    int       // by this ZVT card type
	typed   map[string]string
	refunds map[string]string // what a refund asks for
}

var all = []sold{
	{name: "Swish", choose: [2]string{"Swish", "Swish"}},
	{name: "Easy", choose: [2]string{"Easy (QR)", "Easy (123)"}, typed: map[string]string{"Mobile number": "4670000001"}, refunds: map[string]string{"Order number": "4711"}},
	{name: "Klarna", card: 120},
	{name: "Santander instalments", choose: [2]string{"Santander instalments", "Santander instalments"}, typed: map[string]string{"Personal number": "198001011234", "Months": "24"}},
	{name: "TWINT", card: 125},
	{name: "Bluecode", card: 260},
	{name: "Vipps", choose: [2]string{"Vipps", "Vipps"}},
	{name: "Gift card", choose: [2]string{"Gift card", "Gift card"}, typed: map[string]string{"Gift card number": "60000000012345"}},
}

// The amounts in cents: of the payment that is refunded in part, of that part, of the payment that is reversed, of the payment by a
// scanned code, and of the one whose amount is typed.
const (
	paid, back, undone = 1250, 250, 700
	byCode, typedLater = 500, 333
)

// totals are those of one method at the end of the day, as they are printed.
type totals struct{ payments, refunds string }

// said is what the backend says to the customer of a payment, as the receipt has it (naa2Ecr, S1 2.4).
var said = map[string][]string{
	"Easy":      {"Paid by ********01"}, // of 4670000001, typed
	"Gift card": {"Paid by ***********345"},
	"Klarna":    {"The invoice comes by e-mail, due in 30 days"},
	"Bluecode":  {"Loyalty card BC-4711-0815", "12 points for this purchase"},
}

// wanted is what the whole run comes to: two lines, on each two payments, a refund and a reversal of each method.
var wanted = map[string]totals{
	"Swish":                 {"Payments 4 39.00 EUR", "Refunds 4 -19.00 EUR"},
	"Easy":                  {"Payments 5 44.00 EUR", "Refunds 4 -19.00 EUR"},
	"Klarna":                {"Payments 4 39.00 EUR", "Refunds 4 -19.00 EUR"},
	"Santander instalments": {"Payments 4 39.00 EUR", "Refunds 4 -19.00 EUR"},
	"TWINT":                 {"Payments 5 42.33 EUR", "Refunds 4 -19.00 EUR"},
	"Bluecode":              {"Payments 4 39.00 EUR", "Refunds 4 -19.00 EUR"},
	"Vipps":                 {"Payments 4 39.00 EUR", "Refunds 4 -19.00 EUR"},
	"Gift card":             {"Payments 4 39.00 EUR", "Refunds 4 -19.00 EUR"},
}

const (
	wantedNet   = 8*2*(paid-back) + byCode + typedLater // 168.33
	wantedTotal = "Total 168.33 EUR"
	wantedCount = 8*2*2 + 2 // payments in the books
)

// TestEveryMethod sells, refunds and reverses all methods with the program of this machine.
func TestEveryMethod(t *testing.T) {
	need.Verify(t, "sells over a serial line at its speed, for minutes")
	bin := program.Path(t, "posagent")
	play(t, bin, func(args ...string) *exec.Cmd { return exec.Command(bin, args...) })
}

// TestEveryMethodOnARM does the same with the ARMv7 binary.
func TestEveryMethodOnARM(t *testing.T) {
	need.Verify(t, "sells over a serial line at its speed, for minutes")
	qemu := need.Tool(t, "qemu-arm-static")
	arm := filepath.Join(t.TempDir(), "posagent")
	require.NoError(t, program.Build(arm, []string{"-trimpath", "-tags", "nethttpomithttp2", "-ldflags=-s -w"}, "GOOS=linux", "GOARCH=arm", "GOARM=7"))
	play(t, program.Path(t, "posagent"), func(args ...string) *exec.Cmd { return exec.Command(qemu, append([]string{arm}, args...)...) })
}

// shop is a terminal, its customer and what was sold.
type shop struct {
	*testing.T
	*customer.Customer
	payments map[string]int64 // what each payment has left in the books, by its transaction
}

// play runs the whole story on a terminal that command makes. bin reads its books.
func play(t *testing.T, bin string, command func(args ...string) *exec.Cmd) {
	dir := t.TempDir()
	file, state, paper := filepath.Join(dir, "config.toml"), filepath.Join(dir, "state"), filepath.Join(dir, "paper")
	far, pty, err := lines.PTY()
	require.NoError(t, err)
	t.Cleanup(func() { _ = far.Close() })
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, configuration, pty, paper), 0o600))
	terminal, ready, err := program.Start(command("run", "--config", file, "--state", state), "ready ")
	require.NoError(t, err)
	t.Cleanup(terminal.Kill)

	x := &shop{T: t, Customer: customer.Come(program.Said(ready, "port=http://")), payments: map[string]int64{}}
	t.Cleanup(func() { require.NoError(t, x.Leave()) })
	ctx, cancel := x.within()
	defer cancel()
	require.NoError(t, x.Watches(ctx))
	serial, err := zvt.New(frame.New(far, frame.Config{}), x.options())
	require.NoError(t, err)
	network, err := zvt.Dial(t.Context(), "tcp:"+address(ready), x.options())
	require.NoError(t, err)
	t.Cleanup(func() { _ = serial.Close(); _ = network.Close() })
	for name, r := range map[string]*zvt.Register{"pty": serial, "tcp": network} {
		res, err := r.Register(t.Context())
		require.NoError(t, err, name)
		require.True(t, res.OK(), "%s: %+v", name, res)
		for _, m := range all {
			x.sell(r, name, m)
		}
	}
	x.scanned(network)
	x.amountTyped(serial)
	x.closeDay(network, paper)

	x.books(bin, state)
	require.NoError(t, terminal.Stop())
}

// address is where the TCP line of a terminal is that has said that it is ready.
func address(ready string) string {
	if m := regexp.MustCompile(`register=\S*?tcp:([^,\s]+)`).FindStringSubmatch(ready); m != nil {
		return m[1]
	}
	return "no TCP line in " + ready
}

func (x *shop) options() zvt.Options {
	return zvt.Options{Currency: "EUR", T3: patience(), T4: patience()}
}

func (x *shop) within() (context.Context, context.CancelFunc) {
	return context.WithTimeout(x.Context(), patience())
}

// good wants a command that was carried out.
func (x *shop) good(res zvt.Result, err error, what string) zvt.Result {
	x.Helper()
	require.NoError(x, err, what)
	require.True(x, res.Approved && res.OK(), "%s: %+v", what, res)
	return res
}

// pay sells once, as the customer or the register chooses.
func (x *shop) pay(r *zvt.Register, amount int64, m sold, way int, what string) zvt.Result {
	x.Helper()
	x.Wishes(m.choose[way], m.typed)
	ctx, cancel := x.within()
	defer cancel()
	raw := apdu.New(apdu.Authorisation, apdu.Amount(amount))
	switch {
	case m.card > 0xFE:
		raw.Fields = append(raw.Fields, apdu.Container(apdu.Primitive(0x41, byte(m.card>>8), byte(m.card))))
	case m.card > 0:
		raw.Fields = append(raw.Fields, apdu.Bytes(0x8A, byte(m.card)))
	}
	res, err := r.Command(ctx, raw, true)
	res = x.good(res, err, what)
	require.EqualValues(x, amount, res.Amount, what)
	require.Contains(x, strings.Join(res.Printed, "\n"), m.name, what)
	require.NotEmpty(x, res.TransactionID, what)
	require.NotContains(x, x.payments, res.TransactionID, what)
	x.payments[res.TransactionID] = amount
	return res
}

// sell pays a method twice on a line, and gives back a part of the one and all of the other.
func (x *shop) sell(r *zvt.Register, line string, m sold) {
	x.Helper()
	what := line + ": " + m.name
	first := x.pay(r, paid, m, 0, what)
	x.Wishes("", m.refunds)
	x.refund(r, first, what+": refund")

	second := x.pay(r, undone, m, 1, what)
	ctx, cancel := x.within()
	defer cancel()
	x.Wishes("", nil)
	res, err := r.Reverse(ctx, second.Receipt, 0)
	x.good(res, err, what+": reversal")
	x.payments[second.TransactionID] -= undone
	for _, text := range said[m.name] {
		require.Contains(x, strings.Join(squeezed(second.Printed), " "), text, what)
		if len(m.typed) == 0 { // a code may be paid here before it is shown, and the sale before it has the screen then
			continue
		}
		require.Eventually(x, func() bool { return strings.Contains(strings.Join(x.Saw(), "\n"), text) }, patience(), 10*time.Millisecond, "%s: %q is not on the screen", what, text)
	}
	for label := range m.typed {
		require.Contains(x, x.Saw(), label, what)
	}
	for label := range m.refunds {
		require.Contains(x, x.Saw(), label, what)
	}
}

// refund gives a part of a payment back. Klarna's and TWINT's are approved before the money has moved (okCodes), and the backend refuses
// a refund until it has: the cashier tries again.
func (x *shop) refund(r *zvt.Register, first zvt.Result, what string) {
	x.Helper()
	ctx, cancel := x.within()
	defer cancel()
	for {
		res, err := r.Refund(ctx, back, "", fmt.Sprintf("R%d", first.Receipt))
		if err != nil || res.Approved || res.Text != "refused" {
			x.good(res, err, what)
			x.payments[first.TransactionID] -= back
			return
		}
		<-time.After(50 * time.Millisecond)
	}
}

// scanned pays with the customer's code, which the register has read from a barcode: nobody is asked.
func (x *shop) scanned(r *zvt.Register) {
	x.Helper()
	x.Wishes("Easy", nil)
	ctx, cancel := x.within()
	defer cancel()
	raw := apdu.New(apdu.Authorisation, apdu.Amount(byCode), apdu.Bytes(0x22, 0x46, 0x70, 0x00, 0x00, 0x01),
		apdu.Container(apdu.Primitive(0x1F2D, 0x02)))
	res, err := r.Command(ctx, raw, true)
	res = x.good(res, err, "a scanned code")
	x.payments[res.TransactionID] = byCode
}

// amountTyped begins a payment without an amount, which the customer types.
func (x *shop) amountTyped(r *zvt.Register) {
	x.Helper()
	x.Wishes("", map[string]string{customer.AmountLabel: fmt.Sprint(typedLater)})
	ctx, cancel := x.within()
	defer cancel()
	res, err := r.Command(ctx, apdu.New(apdu.Authorisation), true)
	res = x.good(res, err, "an amount that comes later")
	require.EqualValues(x, typedLater, res.Amount)
	require.Contains(x, strings.Join(res.Printed, "\n"), "TWINT", "the method that may begin without an amount")
	x.payments[res.TransactionID] = typedLater
}

// closeDay ends the day. What the register prints, and what the terminal prints itself, has the totals of each method.
func (x *shop) closeDay(r *zvt.Register, paper string) {
	x.Helper()
	ctx, cancel := x.within()
	defer cancel()
	res, err := r.EndOfDay(ctx)
	require.NoError(x, err)
	require.True(x, res.OK() && res.Completed, "%+v", res)
	require.Equal(x, wanted, byMethod(res.Printed), "%q", res.Printed)
	require.Contains(x, squeezed(res.Printed), wantedTotal)

	var slip string
	require.Eventually(x, func() bool {
		text, _ := os.ReadFile(paper) // it is there once something was printed
		_, day, found := strings.Cut(string(text), "End of day")
		slip = day
		return found && strings.Contains(day, "168.33")
	}, patience(), 50*time.Millisecond, "no end of day on the terminal's printer")
	own := byMethod(strings.Split(escaped.ReplaceAllString(slip, ""), "\n"))
	for name, one := range wanted {
		require.Equal(x, one, own[name], "%s on the terminal's printer: %q", name, slip)
	}
}

// squeezed has each line with one blank between its words.
func squeezed(printed []string) (list []string) {
	for _, l := range printed {
		list = append(list, strings.Join(strings.Fields(l), " "))
	}
	return list
}

// escaped are the commands of a printer among the lines, of two bytes behind an escape.
var escaped = regexp.MustCompile(`(?s)\x1b..`)

// byMethod reads the totals of each method: its name, and below it its payments and what was given back.
func byMethod(printed []string) map[string]totals {
	found, name := map[string]totals{}, ""
	for _, l := range squeezed(printed) {
		one := found[name]
		switch {
		case strings.HasPrefix(l, "Payments "):
			one.payments = l
		case strings.HasPrefix(l, "Refunds "):
			one.refunds = l
		default:
			name = l
			continue
		}
		found[name] = one
	}
	return found
}

// books compares what the backend has booked with what the register was told. It waits for the money of what was approved before it
// has moved.
func (x *shop) books(bin, state string) {
	x.Helper()
	var left map[string]int64
	require.Eventually(x, func() bool {
		entries, err := program.Books(bin, state)
		require.NoError(x, err)
		left = leftOf(entries)
		return sum(left) == wantedNet
	}, patience(), 50*time.Millisecond, "the books never come to %d", wantedNet)
	require.Equal(x, x.payments, left)
	require.Len(x, left, wantedCount)
}

// leftOf is what each payment has left in the books once refunds and reversals are taken off, by its transaction.
func leftOf(entries []program.Entry) map[string]int64 {
	payments, left := map[string]string{}, map[string]int64{}
	for _, e := range entries {
		if e.Type == "payment" {
			payments[e.Reference], payments[e.ID] = e.ID, e.ID
		}
	}
	for _, e := range entries {
		id := e.ID
		if e.Type != "payment" {
			id = payments[e.Original]
		}
		left[id] += e.Net()
	}
	return left
}

func sum(left map[string]int64) (net int64) {
	for _, n := range left {
		net += n
	}
	return net
}
