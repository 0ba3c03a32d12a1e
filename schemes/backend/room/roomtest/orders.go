package roomtest

import (
	"net/http"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/cross/need"
)

// EnvPresses is how many presses of two tabs Orders puts in every order, for the whole of it.
const EnvPresses = "PRESSES"

// Presses is how many presses a test of two tabs makes: few, more in make verify, or as many as the environment says.
func Presses(tb testing.TB, few, more int) int {
	tb.Helper()
	if text := os.Getenv(EnvPresses); text != "" {
		n, err := strconv.Atoi(text)
		require.NoError(tb, err, EnvPresses)
		return n
	}
	return need.Size(few, more)
}

// Orders calls try with every order of up to so many presses, each one of the choices that there are, and returns how many it
// played. try plays an order from the beginning, as far as its presses are possible, and returns how many were: others that
// begin with an impossible one are left out.
func Orders(presses, choices int, try func(order []int) (possible int)) (tried int) {
	order := make([]int, presses)
	for {
		at := min(try(order), presses-1)
		tried++
		for ; at >= 0; at-- {
			for i := at + 1; i < presses; i++ {
				order[i] = 0
			}
			if order[at]++; order[at] < choices {
				break
			}
		}
		if at < 0 {
			return tried
		}
	}
}

// Tab is a page as a customer has it before him: it stays as it was read, whatever happens elsewhere.
type Tab struct {
	Browser
	At   string // its address
	Body string
}

// Look reads the page again.
func (t *Tab) Look() { t.Body = t.Page(t.At) }

// Press sends the first of its forms that goes to act, with fields filled in (names and values), and reads the page again. It
// reports whether there is one. The form is used as it was shown.
func (t *Tab) Press(act string, fields ...string) bool {
	t.TB.Helper()
	to, form, ok := formIn(t.Body, t.At, act, fields)
	if ok {
		require.Less(t.TB, t.Send(http.MethodPost, to, form).Code, http.StatusInternalServerError)
		t.Look()
	}
	return ok
}
