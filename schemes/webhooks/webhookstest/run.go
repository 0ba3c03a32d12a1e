package webhookstest

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/webhooks"
	"posagent/schemes/wire/wiretest"
)

// Fixture is a receiver to be proven.
type Fixture struct {
	Service webhooks.Service
	// Received gives, and forgets, what the receiver has acted on since it was asked last.
	Received func(t *testing.T) []webhooks.Event
	// Wire is the same receiver over HTTP, at this very address; nil: this row has no wire.
	Wire *wiretest.Site
}

// Run proves the fixture's receiver.
func Run(t *testing.T, f Fixture) {
	t.Run("every event", f.every)
	t.Run("repeats", f.repeats)
	if f.Wire != nil {
		t.Run("wire", f.wire)
	}
}

// received is what Marshal makes of an event and Parse of that.
func received(t *testing.T, e webhooks.Event) webhooks.Event {
	t.Helper()
	body, err := webhooks.Marshal(e)
	require.NoError(t, err)
	out, err := webhooks.Parse(body)
	require.NoError(t, err)
	return out
}

func (f Fixture) every(t *testing.T) {
	for _, e := range Samples() {
		e = received(t, e)
		require.NoError(t, f.Service.Receive(t.Context(), e), e.Name)
		require.Equal(t, []webhooks.Event{e}, f.Received(t), e.Name)
	}
}

// A repeat is acknowledged and has no second effect, whatever came in between and however many come at once.
func (f Fixture) repeats(t *testing.T) {
	a, b := received(t, Samples()[5]), received(t, Samples()[0])
	for _, e := range []webhooks.Event{a, b, a, a, b, a} {
		require.NoError(t, f.Service.Receive(t.Context(), e))
	}
	require.Equal(t, []webhooks.Event{a, b}, f.Received(t))
	c := received(t, Samples()[1])
	taken := wiretest.AtOnce(func(int) bool { return f.Service.Receive(t.Context(), c) == nil })
	require.Equal(t, map[bool]int{true: wiretest.Callers}, taken)
	require.Equal(t, []webhooks.Event{c}, f.Received(t))
}

func (f Fixture) wire(t *testing.T) {
	e := Samples()[0]
	body, err := webhooks.Marshal(e)
	require.NoError(t, err)
	good := string(body)
	post := func(method, kind, body string) int {
		resp, answer := f.Wire.Raw(t, method, "", kind, body)
		if resp.StatusCode == http.StatusOK {
			require.Empty(t, answer)
		}
		require.NotContains(t, answer, "john.doe")
		return resp.StatusCode
	}
	for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete, http.MethodPatch} {
		require.Equal(t, http.StatusMethodNotAllowed, post(method, "application/json", good), method)
	}
	for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1"} {
		require.Equal(t, http.StatusBadRequest, post(http.MethodPost, kind, good), kind)
	}
	for name, bad := range Broken(good) {
		require.Equal(t, http.StatusBadRequest, post(http.MethodPost, "application/json", bad), name)
	}
	require.Equal(t, http.StatusRequestEntityTooLarge, post(http.MethodPost, "application/json", good+strings.Repeat(" ", webhooks.MaxBody)))
	require.Empty(t, f.Received(t))
	require.Equal(t, http.StatusOK, post(http.MethodPost, "application/json;charset=UTF-8", good))
	require.Equal(t, http.StatusOK, post(http.MethodPost, "application/json", good))
	require.Len(t, f.Received(t), 1)
}

// Broken gives spoilt versions of a payment.created event, by what is wrong with them.
func Broken(good string) map[string]string {
	swap := func(old, new string) string { return strings.Replace(good, old, new, 1) }
	return map[string]string{
		"nothing":          "",
		"half":             good[:len(good)/2],
		"trailing bytes":   good + "{}",
		"a list":           "[" + good + "]",
		"a text":           `"x"`,
		"null":             "null",
		"twice a key":      swap(`"event":`, `"event":"payment.created","event":`),
		"a twin of a key":  swap(`"event":`, `"Event":"payment.created","event":`),
		"no id":            swap(`"id":`, `"ID2":`),
		"empty id":         swap(`"id":"`, `"id":"","x":"`),
		"null id":          swap(`"id":"`, `"id":null,"x":"`),
		"number as id":     swap(`"id":"`, `"id":1,"x":"`),
		"no event":         swap(`"event":`, `"e":`),
		"no time":          swap(`"timestamp":`, `"t":`),
		"no good time":     swap(`"timestamp":"2021`, `"timestamp":"x2021`),
		"no merchant":      swap(`"merchantId":100017120,"merchantNumber":100017120,`, ``),
		"merchant as text": swap(`"merchantId":100017120`, `"merchantId":"100017120"`),
		"merchant in part": swap(`"merchantId":100017120`, `"merchantId":1.5`),
		"merchant too big": swap(`"merchantId":100017120`, `"merchantId":100017120100017120100017120`),
		"two merchants":    swap(`"merchantNumber":100017120`, `"merchantNumber":1`),
		"no data":          swap(`"data":`, `"d":`),
		"data as text":     swap(`"data":{`, `"data":"x","d":{`),
		"data null":        swap(`"data":{`, `"data":null,"d":{`),
		"no payment":       swap(`"paymentId":`, `"p":`),
		"no order":         swap(`"order":`, `"o":`),
		"amount too big":   swap(`"amount":5500`, `"amount":2147483648`),
		"amount in part":   swap(`"amount":5500`, `"amount":55.5`),
		"item price":       swap(`"unitPrice":2500`, `"unitPrice":"2500"`),
		"item price null":  swap(`"unitPrice":2500`, `"unitPrice":null`),
		"broken UTF-8":     swap("Sneaky", "\xff"),
	}
}
