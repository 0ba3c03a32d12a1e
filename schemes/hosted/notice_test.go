package hosted_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/hosted"
	"posagent/schemes/wire"
)

// notification is S2 6.
const notification = `{"eventId":"e1","eventTime":"2026-11-22T10:00:00.000Z","operation":{"orderId":"o1","operationId":"7","channel":"ECOMMERCE",` +
	`"operationType":"CAPTURE","operationResult":"EXECUTED","operationTime":"2026-11-22T10:00:00.000Z","paymentMethod":"CARD","paymentCircuit":"VISA",` +
	`"paymentInstrumentInfo":"***1111","paymentEndToEndId":"x","cancelledOperationId":"","operationAmount":"5000","operationCurrency":"EUR",` +
	`"warnings":[],"paymentLinkId":"","additionalData":{}},"securityToken":"TOKEN"}`

func TestNotice(t *testing.T) {
	n, err := hosted.DecodeNotice([]byte(notification))
	require.NoError(t, err)
	require.Equal(t, "TOKEN", n.SecurityToken.Reveal())
	require.Equal(t, hosted.Executed, n.Operation.OperationResult)
	data, err := wire.Encode(n)
	require.NoError(t, err)
	require.Equal(t, notification, string(data))
	n.Operation.Warnings, n.Operation.AdditionalData = nil, nil
	data, err = wire.Encode(n)
	require.NoError(t, err)
	require.Equal(t, notification, string(data), "a list and an object, whatever there is")
	for _, bad := range []string{"", "null", "[]", notification + "{}", `{"operation":{}}`, `{"securityToken":null,"operation":{"orderId":"o","operationId":"1","operationResult":"X"}}`} {
		_, err = hosted.DecodeNotice([]byte(bad))
		require.Equal(t, wire.Invalid, wire.CodeOf(err), bad)
	}
}

// What holds a token shows it to no printer.
func TestNothingShowsTheToken(t *testing.T) {
	n, err := hosted.DecodeNotice([]byte(notification))
	require.NoError(t, err)
	b := hosted.Built{SessionID: "session-1", SecurityToken: "TOKEN"}
	s := hosted.SessionState{State: hosted.Ready, FieldSet: &hosted.FieldSet{SecurityToken: "TOKEN"}}
	for _, v := range []any{n, &n, b, &b, s, &s} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%q"} {
			require.NotContains(t, fmt.Sprintf(verb, v), "TOKEN")
		}
		data, err := json.Marshal(v)
		require.NoError(t, err)
		require.NotContains(t, string(data), `"TOKEN"`)
	}
}
